/* CONFIG command args=vfs_read */
syscall:::entry { @[probefunc] = count() }
syscall::exec*:return { trace(execname); }
io:::start { printf("%s %d", args[1]->dev_statname, args[0]->b_bcount); }
profile-97 /execname == "bash"/ { @[ustack()] = count(); }
fbt::$$1:entry { self->ts = timestamp; }
fbt::$$1:return /self->ts/ { @ = quantize(timestamp - self->ts); self->ts = 0; }
vminfo:::as_fault { @mem[execname] = sum(arg0); }
kinst::$1: { @[probename] = count(); }
kinst::vfs_read:9 {printf("%#x", regs[R_RSI]);}
pid$target:libc:malloc:entry { @ = llquantize(arg0, 10, 0, 6, 20); }
tcp:::send { @bytes[args[2]->ip_daddr, args[4]->tcp_dport] = sum(args[2]->ip_plength); }
::tcp_*:entry, !fbt::x:entry
