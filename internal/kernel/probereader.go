package kernel

import (
	"errors"
	"fmt"
	"sync"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"
)

// probeReader reads the kernel's memory with the BPF helper
// bpf_probe_read_kernel. Its program is never attached: it is run by
// BPF_PROG_TEST_RUN, which raw tracepoint programs have since Linux 5.10.
type probeReader struct {
	mu   sync.Mutex
	prog *ebpf.Program
	page *ebpf.Map
}

// probeReadMax is how much one run reads, in bytes.
const probeReadMax = 4096

func openProbeReader() (_ *probeReader, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("reading kernel memory through BPF: %w", err)
		}
	}()
	page, err := ebpf.NewMap(&ebpf.MapSpec{
		Name: "kinst_text", Type: ebpf.Array, KeySize: 4, ValueSize: probeReadMax, MaxEntries: 1,
	})
	if errors.Is(err, unix.EPERM) {
		return nil, unix.EPERM // without the library's guess at the reason
	}
	if err != nil {
		return nil, err
	}
	prog, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Name: "kinst_text", Type: ebpf.RawTracepoint, License: "GPL",
		Instructions: probeReadProgram(page.FD()),
	})
	if err != nil {
		page.Close()
		return nil, err
	}
	return &probeReader{prog: prog, page: page}, nil
}

// probeReadProgram returns
//
//	int read(u64 *ctx) {            // ctx[0] address, ctx[1] length
//		void *page = bpf_map_lookup_elem(map, &zero);
//		if (!page) return 1;
//		return bpf_probe_read_kernel(page, min(ctx[1], 4096), ctx[0]);
//	}
func probeReadProgram(mapFD int) asm.Instructions {
	return asm.Instructions{
		asm.LoadMem(asm.R6, asm.R1, 0, asm.DWord),
		asm.LoadMem(asm.R7, asm.R1, 8, asm.DWord),
		asm.StoreImm(asm.RFP, -4, 0, asm.Word),
		asm.LoadMapPtr(asm.R1, mapFD),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, -4),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "none"),
		asm.JGT.Imm(asm.R7, probeReadMax, "none"),
		asm.Mov.Reg(asm.R1, asm.R0),
		asm.Mov.Reg(asm.R2, asm.R7),
		asm.Mov.Reg(asm.R3, asm.R6),
		asm.FnProbeReadKernel.Call(),
		asm.Return(),
		asm.Mov.Imm(asm.R0, 1).WithSymbol("none"),
		asm.Return(),
	}
}

func (r *probeReader) read(addr uint64, p []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(p) > 0 {
		n := min(len(p), probeReadMax)
		if err := r.readPage(addr, p[:n]); err != nil {
			return fmt.Errorf("reading %d bytes of kernel memory at %#x through BPF: %w", n, addr, err)
		}
		addr += uint64(n)
		p = p[n:]
	}
	return nil
}

func (r *probeReader) readPage(addr uint64, p []byte) error {
	ret, err := r.prog.Run(&ebpf.RunOptions{Context: [2]uint64{addr, uint64(len(p))}})
	if err != nil {
		return err
	}
	if ret != 0 {
		return errors.New("it is not mapped")
	}
	page := make([]byte, probeReadMax)
	if err := r.page.Lookup(uint32(0), &page); err != nil {
		return err
	}
	copy(p, page)
	return nil
}

func (r *probeReader) source() string { return "BPF" }

func (r *probeReader) Close() error {
	return errors.Join(r.prog.Close(), r.page.Close())
}
