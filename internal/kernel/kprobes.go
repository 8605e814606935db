package kernel

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cilium/ebpf/btf"
	"golang.org/x/sys/unix"

	"kinst/internal/isa"
)

// Somebody else's kprobes stand in the text: a breakpoint in place of an
// instruction's first byte, or a jump in place of several instructions. The
// kernel keeps what it replaced in the probe's structure, and all structures
// in the hash table kprobe_table.

const (
	settleTries = 50
	settlePause = 2 * time.Millisecond
)

// settledText returns the text of a function as it is without the kprobes in
// it, and where those are. It reads the probes before and after the text, and
// takes it when nothing has changed in between.
func (k *Kernel) settledText(arch *isa.Arch, f Function) (text []byte, probed []uint64, err error) {
	for range settleTries {
		before, err := k.kprobes(arch, f.Addr, f.Extent)
		if err != nil && !errors.Is(err, ErrUnsettled) {
			return nil, nil, err
		}
		text, err1 := k.textOf(f)
		again, err2 := k.textOf(f)
		if err := errors.Join(err1, err2); err != nil {
			return nil, nil, err
		}
		after, err2 := k.kprobes(arch, f.Addr, f.Extent)
		if err == nil && err2 == nil && slices.EqualFunc(before, after, kprobe.equal) && bytes.Equal(text, again) {
			for _, p := range after {
				p.undo(arch, text, f.Addr)
				probed = append(probed, p.addr)
			}
			return text, probed, nil
		}
		time.Sleep(settlePause)
	}
	return nil, nil, ErrUnsettled
}

// kprobe is what the kernel knows of a place where kprobes are.
type kprobe struct {
	addr   uint64
	opcode []byte // of the instruction, what a breakpoint replaces
	// Of an optimized probe: where its jump leads, and what the jump replaces
	// behind the opcode.
	detour uint64
	copied []byte
}

func (p kprobe) equal(q kprobe) bool {
	return p.addr == q.addr && bytes.Equal(p.opcode, q.opcode) && p.detour == q.detour && bytes.Equal(p.copied, q.copied)
}

// undo puts the original bytes in their places in the text that stands at
// base.
func (p kprobe) undo(arch *isa.Arch, text []byte, base uint64) {
	at := text[min(uint64(len(text)), p.addr-base):]
	// A probe is optimized some time after it is armed, and while the kernel
	// writes the jump the breakpoint is still there. The bytes behind it say
	// whether it is.
	if p.detour != 0 && len(at) >= arch.JumpLen {
		jump := arch.JumpTo(p.addr, p.detour)
		if n := len(p.opcode); bytes.Equal(at[n:arch.JumpLen], jump[n:]) {
			copy(at[n:arch.JumpLen], p.copied)
		}
	}
	copy(at, p.opcode)
}

// kprobes returns the kprobes from addr up to addr+size that have changed the
// text, by ascending address.
func (k *Kernel) kprobes(arch *isa.Arch, addr, size uint64) ([]kprobe, error) {
	t, err := k.kprobeTable()
	if err != nil {
		return nil, k.unknownKprobes(addr, size, err)
	}
	var found []kprobe
	err = t.walk(arch, func(p kprobe) {
		if addr <= p.addr && p.addr < addr+size {
			found = append(found, p)
		}
	})
	slices.SortFunc(found, func(p, q kprobe) int { return cmp.Compare(p.addr, q.addr) })
	return found, err
}

// unknownKprobes is for kernels that do not tell where the table is: there a
// text without probes can be read and no other.
func (k *Kernel) unknownKprobes(addr, size uint64, why error) error {
	addrs, err := armedKprobes()
	if err != nil {
		return fmt.Errorf("whether somebody has probes there cannot be known: %w; %w", why, err)
	}
	for _, a := range addrs {
		if addr <= a && a < addr+size {
			return fmt.Errorf("somebody has a probe at %#x, and what it hides cannot be known: %w", a, why)
		}
	}
	return nil
}

// kprobeTable is the kernel's hash table of kprobes.
type kprobeTable struct {
	kernel  *Kernel
	addr    uint64
	offsets func() (*kprobeOffsets, error)
}

// kprobeBuckets is KPROBE_TABLE_SIZE of the kernel's kernel/kprobes.c.
const kprobeBuckets = 64

// kprobeOffsets is where members are, in bytes from the beginning of
// struct kprobe and struct optimized_kprobe.
type kprobeOffsets struct {
	next, addr, opcode, flags, size uint32
	detour, copied                  uint32 // 0 on kernels without CONFIG_OPTPROBES
}

// Flags of struct kprobe, include/linux/kprobes.h.
const (
	flagOptimized = 4
	flagFtrace    = 8
)

func (k *Kernel) kprobeTable() (*kprobeTable, error) {
	syms, err := k.Symbols()
	if err != nil {
		return nil, err
	}
	addr, ok := syms.Data("kprobe_table")
	if !ok {
		return nil, errors.New("the kernel's symbols lack kprobe_table (it is built without CONFIG_KALLSYMS_ALL or without CONFIG_KPROBES)")
	}
	return &kprobeTable{k, addr, k.kprobeOffsets}, nil
}

func findKprobeOffsets(spec *btf.Spec) (*kprobeOffsets, error) {
	kp, err := structOf(spec, "kprobe")
	if err != nil {
		return nil, err
	}
	o := &kprobeOffsets{size: kp.Size}
	for member, at := range map[string]*uint32{
		"hlist.next": &o.next, "addr": &o.addr, "opcode": &o.opcode, "flags": &o.flags,
	} {
		if *at, err = memberOffset(kp, member); err != nil {
			return nil, err
		}
	}
	op, err := structOf(spec, "optimized_kprobe")
	if err != nil {
		return o, nil
	}
	var errs [2]error
	o.detour, errs[0] = memberOffset(op, "optinsn.insn")
	o.copied, errs[1] = memberOffset(op, "optinsn.copied_insn")
	return o, errors.Join(errs[:]...)
}

// walk calls visit for each kprobe that is not ftrace's. The table may change
// meanwhile: what cannot be true is ErrUnsettled.
func (t *kprobeTable) walk(arch *isa.Arch, visit func(kprobe)) error {
	mem, err := t.kernel.memory()
	if err != nil {
		return err
	}
	heads := make([]byte, 8*kprobeBuckets)
	if err := mem.read(t.addr, heads); err != nil {
		return err
	}
	for bucket := range kprobeBuckets {
		node := binary.NativeEndian.Uint64(heads[8*bucket:])
		for steps := 0; node != 0; steps++ {
			if steps > maxChain {
				return ErrUnsettled
			}
			if node, err = t.visit(mem, arch, node, visit); err != nil {
				return err
			}
		}
	}
	return nil
}

// maxChain is more kprobes than a bucket of the table can hold.
const maxChain = 1 << 20

// visit reads the kprobe whose hash list node is at an address and returns
// the address of the next.
func (t *kprobeTable) visit(mem memory, arch *isa.Arch, node uint64, visit func(kprobe)) (next uint64, err error) {
	o, err := t.offsets()
	if err != nil {
		return 0, err
	}
	kp := make([]byte, o.size)
	at := node - uint64(o.next) // hlist.next is the first member of the node
	if err := mem.read(at, kp); err != nil {
		return 0, fmt.Errorf("%w (%w)", ErrUnsettled, err)
	}
	next = binary.NativeEndian.Uint64(kp[o.next:])
	flags := binary.NativeEndian.Uint32(kp[o.flags:])
	if flags&flagFtrace != 0 {
		return next, nil
	}
	p := kprobe{
		addr:   binary.NativeEndian.Uint64(kp[o.addr:]),
		opcode: kp[o.opcode:][:arch.BreakpointLen],
	}
	if flags&flagOptimized != 0 && o.detour != 0 {
		var detour [8]byte
		p.copied = make([]byte, arch.JumpLen-arch.BreakpointLen)
		if err := errors.Join(mem.read(at+uint64(o.detour), detour[:]), mem.read(at+uint64(o.copied), p.copied)); err != nil {
			return 0, fmt.Errorf("%w (%w)", ErrUnsettled, err)
		}
		p.detour = binary.NativeEndian.Uint64(detour[:])
	}
	visit(p)
	return next, nil
}

// armedKprobes returns the addresses of the kprobes that debugfs lists.
func armedKprobes() ([]uint64, error) {
	dir, err := DebugFS()
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(dir, "kprobes", "list"))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, nil // a kernel without kprobes
	case errors.Is(err, os.ErrPermission):
		return nil, Refused(err, unix.CAP_DAC_READ_SEARCH)
	case err != nil:
		return nil, err
	}
	return parseKprobeList(string(text))
}

// parseKprobeList returns the addresses, but those of ftrace's, of lines of
//
//	ffffffff81234560  k  vfs_read+0x9    [OPTIMIZED]
//	ffffffffc0201234  r  ext4_foo+0x0  ext4 [DISABLED][FTRACE]
func parseKprobeList(text string) ([]uint64, error) {
	var addrs []uint64
	for line := range strings.Lines(text) {
		field, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		addr, err := strconv.ParseUint(field, 16, 64)
		if err != nil {
			return nil, fmt.Errorf("kprobes/list: not a kprobe: %q", line)
		}
		if !strings.Contains(rest, "[FTRACE]") {
			addrs = append(addrs, addr)
		}
	}
	return addrs, nil
}
