/* A stable view of a kernel structure, as the libraries of DTrace provide it. */
#pragma D depends_on module vmlinux

typedef struct qinfo {
	uint32_t q_depth;
	string q_name;
	uintptr_t q_addr;
	int q_flags : 4;
} qinfo_t;

typedef struct list {
	struct list *next, *prev;
} list_t;

#pragma D binding "1.0" translator
translator qinfo_t < struct request_queue *q > {
	q_depth = q->nr_requests;
	q_name = q->disk != NULL ? stringof(q->disk->disk_name) : "<none>";
	q_addr = (uintptr_t)q;
	q_flags = ((struct request_queue *)(uintptr_t)q)->queue_flags & 0xf;
};

inline qinfo_t *qinfo[struct request_queue *q] = xlate <qinfo_t *>(q);
#pragma D attributes Evolving/Evolving/Common qinfo

fbt::blk_mq_submit_bio:entry
{
	this->q = ((struct bio *)arg0)->bi_bdev->bd_queue;
	printf("%s %d %p\n", qinfo[this->q]->q_name, xlate <qinfo_t>(this->q).q_depth, this->q);
	print(*this->q);
}
