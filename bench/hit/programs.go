package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"kinst"
	"kinst/internal/arm"
	"kinst/internal/isa"
)

// compiled returns the BPF program that kinst makes of D with one kind of probe,
// as it is while kinst traces.
func compiled(d string) (*ebpf.Program, error) {
	settings := kinst.NewSettings()
	if err := settings.Set("sites=all"); err != nil {
		return nil, err
	}
	session, err := kinst.Open(kinst.Options{Settings: settings})
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	program, err := session.Compile(ctx, kinst.Source{Text: d})
	if err == nil {
		err = session.Start(ctx, program)
	}
	var prog *ebpf.Program
	if err == nil {
		prog, err = loaded("kinst_0_0")
	}
	return prog, errors.Join(err, session.Close())
}

// loaded returns the program of that name that is in the kernel.
func loaded(name string) (*ebpf.Program, error) {
	for id := ebpf.ProgramID(0); ; {
		next, err := ebpf.ProgramGetNextID(id)
		if err != nil {
			return nil, fmt.Errorf("the BPF program %s: %w", name, err)
		}
		id = next
		prog, err := ebpf.NewProgramFromID(id)
		if err != nil {
			return nil, err
		}
		info, err := prog.Info()
		if err != nil {
			return nil, err
		}
		if info.Name == name {
			return prog, nil
		}
		prog.Close()
	}
}

// load loads a program whose end is labelled "out".
func load(body ...asm.Instruction) (*ebpf.Program, error) {
	return ebpf.NewProgram(&ebpf.ProgramSpec{
		Type: ebpf.Kprobe, License: "GPL",
		Instructions: append(body, asm.Mov.Imm(asm.R0, 0).WithSymbol("out"), asm.Return()),
	})
}

func empty() (*ebpf.Program, error) { return load() }

// count counts in an array of a number for each byte from the first site to the
// last.
func count(sites []arm.Site) (*ebpf.Program, error) {
	arch, err := isa.Native()
	if err != nil {
		return nil, err
	}
	pc, _ := arch.Register(arch.PC)
	first, last := sites[0].Addr(), sites[len(sites)-1].Addr()
	m, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 8 * uint32(last-first+1), MaxEntries: 1})
	if err != nil {
		return nil, err
	}
	defer m.Close() // the program holds it
	return load(
		asm.LoadMem(asm.R1, asm.R1, int16(pc.Offset), asm.DWord),
		asm.LoadImm(asm.R2, int64(first)+int64(arch.ProbePC), asm.DWord),
		asm.Sub.Reg(asm.R1, asm.R2),
		asm.JGT.Imm(asm.R1, int32(last-first), "out"),
		asm.LSh.Imm(asm.R1, 3),
		asm.LoadMapValue(asm.R2, m.FD(), 0),
		asm.Add.Reg(asm.R2, asm.R1),
		asm.Mov.Imm(asm.R3, 1),
		asm.StoreXAdd(asm.R2, asm.R3, asm.DWord),
	)
}

// otherProcess looks at the process and finds that it is another one.
func otherProcess([]arm.Site) (*ebpf.Program, error) {
	return load(
		asm.FnGetCurrentPidTgid.Call(),
		asm.RSh.Imm(asm.R0, 32),
		asm.JNE.Imm(asm.R0, 1, "out"),
	)
}

// otherName looks at the command's name and finds that it is another one.
func otherName([]arm.Site) (*ebpf.Program, error) {
	return load(
		asm.Mov.Reg(asm.R1, asm.RFP),
		asm.Add.Imm(asm.R1, -16),
		asm.Mov.Imm(asm.R2, 16),
		asm.FnGetCurrentComm.Call(),
		asm.LoadMem(asm.R1, asm.RFP, -16, asm.DWord),
		asm.LoadImm(asm.R2, 0x79646f626f6e, asm.DWord), // "nobody"
		asm.JNE.Reg(asm.R1, asm.R2, "out"),
	)
}

// otherValue looks at a register and finds another value.
func otherValue([]arm.Site) (*ebpf.Program, error) {
	arch, err := isa.Native()
	if err != nil {
		return nil, err
	}
	rdx, _ := arch.Register("R_RDX")
	return load(
		asm.LoadMem(asm.R1, asm.R1, int16(rdx.Offset), asm.DWord),
		asm.JNE.Imm(asm.R1, 12345, "out"),
	)
}
