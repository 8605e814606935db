/*
 * Buffers, devices and files, as DTrace's io provider has them. A buffer is a
 * struct bio or a struct request of the block layer.
 */

inline int B_READ = 0x00000040;
inline int B_WRITE = 0x00000000;
inline int B_DONE = 0x00000002;
inline int B_ERROR = 0x00000004;
inline int B_PHYS = 0x00000020;
inline int B_ASYNC = 0x00000400;

typedef struct bufinfo {
	int	b_flags;	/* B_READ or B_WRITE, and others of B_ */
	size_t	b_bcount;	/* bytes */
	uintptr_t b_addr;	/* of the struct bio or request */
	uint64_t b_blkno;	/* first sector of 512 bytes, on the device */
	uint64_t b_lblkno;	/* the same */
	size_t	b_resid;	/* bytes not transferred */
	size_t	b_bufsize;
	uintptr_t b_iodone;	/* what is called at the end */
	int	b_error;
	unsigned int b_edev;	/* device number */
} bufinfo_t;

translator bufinfo_t < struct bio *B > {
	b_flags = (B->bi_opf & 1) ? B_WRITE : B_READ;
	b_bcount = B->bi_iter.bi_size;
	b_addr = (uintptr_t)B;
	b_blkno = B->bi_iter.bi_sector;
	b_lblkno = B->bi_iter.bi_sector;
	b_resid = 0;
	b_bufsize = B->bi_iter.bi_size;
	b_iodone = (uintptr_t)B->bi_end_io;
	b_error = B->bi_status;
	b_edev = B->bi_bdev->bd_dev;
	b_edev = (B->bi_disk->major << 20) | (B->bi_disk->first_minor + B->bi_partno);
};

translator bufinfo_t < struct request *R > {
	b_flags = (R->cmd_flags & 1) ? B_WRITE : B_READ;
	b_bcount = R->__data_len;
	b_addr = (uintptr_t)R;
	b_blkno = R->__sector;
	b_lblkno = R->__sector;
	b_resid = 0;
	b_bufsize = R->__data_len;
	b_iodone = (uintptr_t)R->end_io;
	b_error = 0;
	b_edev = R->part->bd_dev;
	b_edev = (R->rq_disk->major << 20) | R->rq_disk->first_minor;
};

typedef struct devinfo {
	unsigned int dev_major;
	unsigned int dev_minor;
	unsigned int dev_instance;
	string	dev_name;	/* of the driver */
	string	dev_statname;	/* as iostat(1) names the disk */
	string	dev_pathname;
} devinfo_t;

translator devinfo_t < struct bio *B > {
	dev_major = B->bi_bdev->bd_dev >> 20;
	dev_major = B->bi_disk->major;
	dev_minor = B->bi_bdev->bd_dev & 0xfffff;
	dev_minor = B->bi_disk->first_minor + B->bi_partno;
	dev_instance = 0;
	dev_name = stringof(B->bi_bdev->bd_disk->disk_name);
	dev_name = stringof(B->bi_disk->disk_name);
	dev_statname = stringof(B->bi_bdev->bd_disk->disk_name);
	dev_statname = stringof(B->bi_disk->disk_name);
	dev_pathname = strjoin("/dev/", stringof(B->bi_bdev->bd_disk->disk_name));
	dev_pathname = strjoin("/dev/", stringof(B->bi_disk->disk_name));
};

translator devinfo_t < struct request *R > {
	dev_major = R->part->bd_dev >> 20;
	dev_major = R->rq_disk->major;
	dev_minor = R->part->bd_dev & 0xfffff;
	dev_minor = R->rq_disk->first_minor;
	dev_instance = 0;
	dev_name = stringof(R->q->disk->disk_name);
	dev_name = stringof(R->rq_disk->disk_name);
	dev_statname = stringof(R->q->disk->disk_name);
	dev_statname = stringof(R->rq_disk->disk_name);
	dev_pathname = strjoin("/dev/", stringof(R->q->disk->disk_name));
	dev_pathname = strjoin("/dev/", stringof(R->rq_disk->disk_name));
};

typedef struct fileinfo {
	string	fi_name;	/* last component of the path */
	string	fi_dirname;	/* name of the directory that it is in */
	string	fi_pathname;	/* these two joined */
	int64_t	fi_offset;
	string	fi_fs;		/* type of the file system */
	string	fi_mount;	/* name of the file system's root */
	int	fi_oflags;	/* flags of open(2) */
} fileinfo_t;

translator fileinfo_t < struct file *F > {
	fi_name = stringof((char *)F->f_path.dentry->d_name.name);
	fi_dirname = stringof((char *)F->f_path.dentry->d_parent->d_name.name);
	fi_pathname = strjoin(stringof((char *)F->f_path.dentry->d_parent->d_name.name),
	    strjoin("/", stringof((char *)F->f_path.dentry->d_name.name)));
	fi_offset = F->f_pos;
	fi_fs = stringof((char *)F->f_path.dentry->d_sb->s_type->name);
	fi_mount = stringof((char *)F->f_path.mnt->mnt_root->d_name.name);
	fi_oflags = F->f_flags;
};

translator fileinfo_t < struct bio *B > {
	fi_name = "<unknown>";
	fi_dirname = "<unknown>";
	fi_pathname = "<unknown>";
	fi_offset = -1;
	fi_fs = "<unknown>";
	fi_mount = "<unknown>";
	fi_oflags = 0;
};

translator fileinfo_t < struct request *R > {
	fi_name = "<unknown>";
	fi_dirname = "<unknown>";
	fi_pathname = "<unknown>";
	fi_offset = -1;
	fi_fs = "<unknown>";
	fi_mount = "<unknown>";
	fi_oflags = 0;
};
