BEGIN { trace(curthread->pid == tid); trace(curthread->real_parent->tgid == ppid); trace(((struct task_struct *)curthread)->pid - tid); }
= 1 1 0

BEGIN { this->t = curthread; trace(this->t->group_leader->pid == pid); trace(this->t->group_leader->tgid == this->t->tgid); trace(this->t == curthread); }
= 1 1 1

BEGIN { trace(sizeof (struct list_head)); trace(offsetof(struct list_head, prev)); trace(sizeof (curthread->comm)); trace(sizeof (struct hlist_head)); trace(sizeof (pid_t)); trace(sizeof (struct rb_node)); }
= 16 8 16 8 4 24

BEGIN { this->h = &curthread->children; trace(this->h->next != NULL); trace((char *)&curthread->comm - (char *)curthread == offsetof(struct task_struct, comm)); }
= 1 1

BEGIN { self->who = curthread; trace(self->who->tgid == pid); self->who = NULL; trace(self->who == NULL); }
= 1 1

BEGIN { who[tid] = curthread; trace(who[tid]->tgid == pid); trace(who[tid + 1] == NULL); who[tid] = 0; }
= 1 1

struct task_struct *mine; BEGIN { mine = curthread; trace(stringof(mine->comm) == execname); trace(mine->comm[0] == *(char *)mine->comm); }
= 1 1

BEGIN { this->cred = curthread->cred; trace(this->cred->uid.val); trace(curthread->cred->gid.val); this->uid = this->cred->uid; trace(this->uid.val); trace(this->uid); }
= 0 0 0 {val=0}

BEGIN { print(curthread->cred->uid); print(curthread->thread_info.flags * 0); print(curthread->cred->uid.val); }
= print({val=0}) print(0) print(0)

BEGIN { trace(curthread->mm->pgd != NULL); trace(curthread->mm->arg_start < curthread->mm->arg_end); trace(strlen(copyinstr(curthread->mm->arg_start)) > 0); }
= 1 1 1

BEGIN { this->t = curthread; trace(this->t->in_execve); trace(this->t->sched_reset_on_fork); trace(this->t->flags & 0x4); }
= 0 0 0

BEGIN { trace((enum pid_type)2 == PIDTYPE_PGID); trace(PIDTYPE_PID); trace(PIDTYPE_MAX > PIDTYPE_SID); }
= 1 0 1

BEGIN { trace(((struct page *)0)->flags); }
= fault:1:1:0x0

BEGIN { trace(&((struct task_struct *)0)->comm == (void *)offsetof(struct task_struct, comm)); }
= 1

inline struct task_struct *parent = curthread->real_parent; BEGIN { trace(parent->tgid == ppid); }
= 1

inline string command[struct task_struct *t] = stringof(t->comm); BEGIN { trace(command[curthread] == execname); trace(strlen(command[curthread->real_parent]) > 0); }
= 1 1

typedef struct pair { int me; int up; } pair_t; translator pair_t < struct task_struct *T > { me = T->tgid; up = T->real_parent->tgid; }; BEGIN { trace(xlate <pair_t> (curthread).me == pid); trace(xlate <pair_t *> (curthread)->up == ppid); }
= 1 1

struct mine { struct list_head l; int v; struct task_struct *t; }; struct mine m; BEGIN { m.v = 4; m.t = curthread; trace(m.v); trace(m.t->tgid == pid); trace(sizeof (struct mine)); trace(m.l.next == NULL); m.l = curthread->tasks; trace(m.l.next == curthread->tasks.next); }
= 4 1 32 1 1

BEGIN { @[curthread->tgid == pid] = count(); @c[stringof(curthread->comm) == execname, curthread->pid == tid] = sum(curthread->flags * 0 + 1); }
= @[1]=0:1 @c[1,1]=0:1;1:1

BEGIN { trace(curthread->se.load.weight > 0); trace(curthread->signal->nr_threads > 0); trace(curthread->cpus_ptr == &curthread->cpus_mask); trace(curthread->nr_cpus_allowed > 0); }
= 1 1 1 1

BEGIN { trace(curthread->fs->pwd.dentry->d_name.name != NULL); trace(strlen(stringof((char *)curthread->fs->root.dentry->d_name.name))); trace(stringof((char *)curthread->fs->root.dentry->d_name.name)); }
= 1 1 "/"

BEGIN { this->p = &curthread->comm; trace(stringof(*this->p) == execname); trace((*this->p)[0] == curthread->comm[0]); this->q = &curthread->comm[1]; trace(*this->q == curthread->comm[1]); }
= 1 1 1
