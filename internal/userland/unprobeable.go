package userland

import (
	"debug/elf"
	"os"
	"strings"

	"kinst/internal/isa"
)

// Unprobeable says why an instruction of the object cannot be probed in its
// process, or must not be; "" if nothing speaks against it.
func (o *Object) Unprobeable(in isa.Inst) string {
	if why := o.arch.NoUprobe(in); why != "" {
		return why
	}
	if o.shadowStack && in.Kind.Is(isa.Call) {
		return "the process has a shadow stack, of which the kernel does not know when it executes a probed call"
	}
	for _, s := range o.restartable() {
		if s.start <= in.Addr && in.Addr < s.end {
			return "it is in a restartable sequence (rseq), which a probe would interrupt each time, or let run on when it must be restarted"
		}
	}
	return ""
}

// restartableSection is where programs keep their struct rseq_cs
// (include/uapi/linux/rseq.h), by the custom of librseq and others.
const restartableSection = "__rseq_cs"

// readRestartable reads the restartable sequences of the object from its
// memory, where they have been relocated.
func (o *Object) readRestartable() []span {
	section := o.elf.Section(restartableSection)
	if section == nil || o.elf.Class != elfClass || section.Type != elf.SHT_PROGBITS {
		return nil
	}
	mem, err := os.Open(procPath(o.pid, "mem"))
	if err != nil {
		return nil
	}
	defer mem.Close()
	data := make([]byte, section.Size)
	if _, err := mem.ReadAt(data, int64(section.Addr+o.bias())); err != nil {
		return nil
	}
	// u32 version, u32 flags, u64 start, u64 size, u64 abort
	const size, startOffset, sizeOffset = 32, 8, 16
	var spans []span
	for ; len(data) >= size; data = data[size:] {
		start := o.elf.ByteOrder.Uint64(data[startOffset:]) - o.bias()
		spans = append(spans, span{start, start + o.elf.ByteOrder.Uint64(data[sizeOffset:])})
	}
	return spans
}

// hasShadowStack reads from /proc/PID/status whether the process has a shadow
// stack.
func hasShadowStack(status string) bool {
	for line := range strings.Lines(status) {
		if features, ok := strings.CutPrefix(line, "x86_Thread_features:"); ok {
			for f := range strings.FieldsSeq(features) {
				if f == "shstk" {
					return true
				}
			}
		}
	}
	return false
}
