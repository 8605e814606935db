package kernel

// What kernels refuse or get wrong that emulate probed instructions where they
// cannot run a copy: probes on some would crash them.

const reasonUnemulated = "kprobes of this kernel neither run a copy of this instruction nor emulate it (prepare_emulation in arch/x86/kernel/kprobes/core.c)"

const reasonEmulated = "it would crash this kernel, which emulates a probed call and takes this one, of unusual length, for 5 bytes long (int3_emulate_call)"

// hazard returns why a probe at the i-th instruction would do harm, "" if it
// would not.
func (l *Listing) hazard(i int) string {
	emulator := l.arch.CallEmulator(l.Insts[i])
	if emulator == "" || !l.reasons.kernel.assumesLen(l, emulator) {
		return ""
	}
	return reasonEmulated
}

// unemulated returns why the kernel would not take the i-th instruction for the
// sake of what it is, "" if it would.
func (l *Listing) unemulated(i int) string {
	if !l.arch.Unemulated(l.Insts[i]) {
		return ""
	}
	if _, err := l.reasons.kernel.Functions(VMLinux, l.arch.Emulator); err != nil {
		return ""
	}
	return reasonUnemulated
}

// assumesLen reports whether a function of the kernel that emulates calls
// takes them to have one length. It is read in the kernel's own text; where
// that cannot be done the worst is assumed, and where there is no such function
// the kernel does not emulate.
func (k *Kernel) assumesLen(l *Listing, emulator string) bool {
	k.mu.Lock()
	assumes, known := k.emulators[emulator]
	k.mu.Unlock()
	if known {
		return assumes
	}
	assumes = false
	if functions, err := k.Functions(VMLinux, emulator); err == nil {
		code, err := k.Listing(l.arch, functions[0])
		assumes = err != nil || l.arch.AssumesLen(code.Insts)
	}
	k.mu.Lock()
	k.emulators[emulator] = assumes
	k.mu.Unlock()
	return assumes
}
