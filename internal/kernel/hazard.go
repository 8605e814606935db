package kernel

// What no kernel refuses, but some kernels get wrong: probes there would
// crash them.

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
