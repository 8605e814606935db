/*
 * Processes and threads: the types that DTrace's proc provider and the
 * variables curpsinfo and curlwpsinfo have, made out of the kernel's task.
 * Where kernels differ a member has several definitions; the first that this
 * kernel's types allow counts.
 */

typedef struct psinfo {
	int	pr_nlwp;	/* threads */
	pid_t	pr_pid;
	pid_t	pr_ppid;
	pid_t	pr_pgid;	/* process group */
	pid_t	pr_sid;		/* session */
	uid_t	pr_uid;
	uid_t	pr_euid;
	gid_t	pr_gid;
	gid_t	pr_egid;
	uintptr_t pr_addr;	/* of the struct task_struct */
	uint64_t pr_start;	/* nanoseconds from boot */
	string	pr_fname;	/* name of the thread group's leader */
	string	pr_psargs;	/* arguments of the current process, others' name */
	uintptr_t pr_argv;	/* user addresses of the first argument and */
	uintptr_t pr_envp;	/* of the first variable of the environment */
} psinfo_t;

translator psinfo_t < struct task_struct *T > {
	pr_nlwp = T->signal->nr_threads;
	pr_pid = T->tgid;
	pr_ppid = T->real_parent->tgid;
	pr_pgid = T->signal->pids[PIDTYPE_PGID]->numbers[0].nr;
	pr_sid = T->signal->pids[PIDTYPE_SID]->numbers[0].nr;
	pr_uid = T->cred->uid.val;
	pr_euid = T->cred->euid.val;
	pr_gid = T->cred->gid.val;
	pr_egid = T->cred->egid.val;
	pr_addr = (uintptr_t)T;
	pr_start = T->group_leader->start_time;
	pr_fname = stringof(T->group_leader->comm);
	pr_psargs = T->tgid == pid ? execargs : stringof(T->group_leader->comm);
	pr_argv = T->mm->arg_start;
	pr_envp = T->mm->env_start;
};

typedef struct lwpsinfo {
	int	pr_flag;	/* the kernel's PF_ flags */
	id_t	pr_lwpid;
	uintptr_t pr_addr;	/* of the struct task_struct */
	int	pr_state;	/* the kernel's TASK_ state */
	char	pr_sname;	/* its letter in ps(1) */
	int	pr_nice;
	int	pr_pri;		/* the kernel's priority: less is more urgent */
	int	pr_onpro;	/* the CPU that it runs or ran on */
	string	pr_name;
} lwpsinfo_t;

inline char tasksname[unsigned int state] =
	state == 0 ? 'R' :
	state & 1 ? 'S' :
	state & 2 ? 'D' :
	state & 4 ? 'T' :
	state & 8 ? 't' :
	state & 16 ? 'X' :
	state & 32 ? 'Z' : 'I';

translator lwpsinfo_t < struct task_struct *T > {
	pr_flag = T->flags;
	pr_lwpid = T->pid;
	pr_addr = (uintptr_t)T;
	pr_state = T->__state | T->exit_state;
	pr_state = T->state | T->exit_state;
	pr_sname = tasksname[T->__state | T->exit_state];
	pr_sname = tasksname[T->state | T->exit_state];
	pr_nice = T->static_prio - 120;
	pr_pri = T->prio;
	pr_onpro = T->wake_cpu;
	pr_name = stringof(T->comm);
};
