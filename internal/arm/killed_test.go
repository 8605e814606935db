package arm

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"kinst/internal/isa"
	"kinst/internal/kernel"
)

// victimVariable makes this binary arm and disarm sites until it is killed.
const victimVariable = "KINST_ARM_VICTIM"

// phases are what a victim does in turn, and says that it begins with.
var phases = []string{"arming", "tracing", "disarming"}

// victim arms the functions that the variable names, waits a little, disarms,
// and begins again.
func victim() {
	if err := suffer(strings.Fields(os.Getenv(victimVariable))); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func suffer(names []string) error {
	k, err := kernel.Open()
	if err != nil {
		return err
	}
	arch, err := isa.Native()
	if err != nil {
		return err
	}
	s, err := Open(k)
	if err != nil {
		return err
	}
	prog, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Type: ebpf.Kprobe, License: "GPL",
		Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.Return()},
	})
	if err != nil {
		return err
	}
	var sites []Site
	for _, name := range names {
		functions, err := k.Select(name)
		if err != nil {
			return err
		}
		l, err := k.Listing(arch, functions[0])
		if err != nil {
			return err
		}
		for i := range l.Insts {
			sites = append(sites, Site{Module: l.Function.Module, Symbol: l.Function.Name, Base: l.Function.Addr, Offset: l.Landing(i) - l.Function.Addr})
		}
	}
	for {
		fmt.Println(phases[0])
		g, _, err := s.Arm(context.Background(), []*ebpf.Program{prog}, sites, nil)
		if err != nil {
			return err
		}
		fmt.Println(phases[1])
		time.Sleep(100 * time.Millisecond)
		fmt.Println(phases[2])
		if err := g.Disarm(); err != nil {
			return err
		}
	}
}

// startVictim starts a victim and waits until it begins with a phase, having
// armed its sites once.
func startVictim(t *testing.T, names, phase string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), victimVariable+"="+names)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for seen := 0; ; {
		if !lines.Scan() {
			t.Fatalf("the victim ended: %v", lines.Err())
		}
		if !slices.Contains(phases, lines.Text()) {
			t.Fatalf("the victim said %q", lines.Text())
		}
		if seen++; seen >= 2 && lines.Text() == phase {
			break
		}
	}
	go io.Copy(io.Discard, out)
	return cmd
}

func kill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
}

// guardians returns the processes that are guardians.
func guardians(t *testing.T) (pids []int) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		var pid int
		if _, err := fmt.Sscan(e.Name(), &pid); err != nil {
			continue
		}
		if text, err := os.ReadFile("/proc/" + e.Name() + "/cmdline"); err == nil && strings.HasPrefix(string(text), guardianName) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func killGuardians(t *testing.T) {
	t.Helper()
	for _, pid := range guardians(t) {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
}

// settings are the values of the knobs that sessions turn.
func settings(t testing.TB) map[string]string {
	t.Helper()
	values := map[string]string{}
	for _, n := range []knob{expedited, unoptimized} {
		values[n.path] = strings.TrimSpace(readFile(t, n.path))
	}
	return values
}

func expectSettings(t testing.TB, want map[string]string) {
	t.Helper()
	for path, value := range settings(t) {
		if value != want[path] {
			t.Errorf("%s is %s, was %s", path, value, want[path])
		}
	}
}

// enabledProbes are the lines of the kernel's list of probes that are armed.
func enabledProbes(t testing.TB) string {
	t.Helper()
	var enabled strings.Builder
	for line := range strings.Lines(armed(t)) {
		if !strings.Contains(line, "[DISABLED]") {
			enabled.WriteString(line)
		}
	}
	return enabled.String()
}

const victimFunctions = "do_sys_openat2"

// kills is how many victims a test kills. The kernels and the tests that do make
// more than 50.
const kills = 13

// startAndKill kills a victim at some moment of the n-th phase, which begins
// after it has been told of.
func startAndKill(t *testing.T, n int, afterStart func()) {
	t.Helper()
	phase := n % len(phases)
	cmd := startVictim(t, victimFunctions, phases[phase])
	afterStart()
	long := []int{300, 100, 60} // milliseconds under emulation
	time.Sleep(time.Duration(rand.IntN(long[phase])) * time.Millisecond)
	kill(t, cmd)
	if text := enabledProbes(t); text != "" {
		t.Errorf("armed after the kill while %s:\n%.500s", phases[phase], text)
	}
}

// A session that is killed leaves no armed site, and its guardian cleans up
// the rest.
func TestKilledWithGuardian(t *testing.T) {
	openKernel(t)
	was := settings(t)
	for i := range kills {
		startAndKill(t, i, func() {})
		deadline := time.Now().Add(20 * time.Second)
		for len(guardians(t)) > 0 {
			if time.Now().After(deadline) {
				t.Fatalf("kill %d: the guardian does not end", i)
			}
			time.Sleep(10 * time.Millisecond)
		}
		if text := definitions(t); text != "" {
			t.Fatalf("kill %d: left after the guardian:\n%.500s", i, text)
		}
		expectSettings(t, was)
	}
}

// Where the guardian is killed too, the next session cleans up.
func TestKilledWithoutGuardian(t *testing.T) {
	k := openKernel(t)
	was := settings(t)
	turned := 0
	for i := range kills {
		startAndKill(t, i, func() { killGuardians(t) })
		for path, value := range settings(t) {
			if value != was[path] {
				turned++
			}
		}
		if i%2 == 0 {
			s, err := Open(k)
			if err != nil {
				t.Fatal(err)
			}
			s.Close()
		} else if _, err := Clean(); err != nil {
			t.Error(err)
		}
		if text := definitions(t); text != "" {
			t.Fatalf("kill %d: left after the next session:\n%.500s", i, text)
		}
		expectSettings(t, was)
	}
	t.Logf("%d knobs were turned at the moment of the kills", turned)
}

// Cleaning leaves what belongs to the living alone.
func TestCleanSparesTheLiving(t *testing.T) {
	k := openKernel(t)
	was := settings(t)
	dead, living := startVictim(t, "vfs_read", phases[1]), openSession(t, k)
	c := kprobeCounter(t)
	sites := sitesOf(t, k, "vfs_read")
	mustArm(t, living, sites, c.prog)
	killGuardians(t)
	kill(t, dead)
	removed, err := Clean()
	if err != nil {
		t.Error(err)
	}
	t.Log(removed)
	if text := definitions(t); !strings.Contains(text, living.owner.group()) || strings.Contains(text, fmt.Sprintf("kinst_%d_", dead.Process.Pid)) {
		t.Errorf("after cleaning, the definitions are\n%.500s", text)
	}
	if got := strings.Count(definitions(t), "\n"); got != len(sites) {
		t.Errorf("%d definitions of the living session, not %d", got, len(sites))
	}
	readZeros(t, 10)
	if n := c.at(t, sites[2].Addr()); n < 10 {
		t.Errorf("%d executions of 10 counted after cleaning", n)
	}
	if again, err := Clean(); err != nil || len(again) > 0 {
		t.Errorf("the second cleaning removed %v, %v", again, err)
	}
	expectSettings(t, was)
}

// Knobs come back to what they were before the first of overlapping sessions,
// in whatever order those end, and whoever is killed.
func TestKnobsOfOverlappingSessions(t *testing.T) {
	dir := t.TempDir()
	path := dir + "/knob"
	write := func(value string) {
		if err := os.WriteFile(path, []byte(value+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(value string) {
		t.Helper()
		if got := strings.TrimSpace(readFile(t, path)); got != value {
			t.Errorf("the knob is at %s, not %s", got, value)
		}
	}
	self, err := selfOwner()
	if err != nil {
		t.Fatal(err)
	}
	n := knob{path, "1"}
	living := newKnobs(dir, self)
	kill := func() { newKnobs(dir, owner{self.PID, self.Start + 1, self.NS}).turn(n) }
	far := newKnobs(dir, owner{1 << 30, 1, self.NS + 1})

	write("0")
	a, b := living.turn(n), living.turn(n)
	expect("1")
	a()
	expect("1")
	b()
	expect("0")

	write("7")
	kill()
	expect("1")
	c := living.turn(n) // finds the dead holder
	expect("1")
	c()
	expect("7")

	write("7")
	c = living.turn(n)
	kill()
	c()
	expect("7")

	write("0")
	kill()
	restored, err := living.restoreAll()
	if err != nil || len(restored) != 1 {
		t.Errorf("restored %v, %v", restored, err)
	}
	expect("0")

	// What another namespace holds is not ours to judge.
	d := far.turn(n)
	if restored, err := living.restoreAll(); err != nil || len(restored) != 0 {
		t.Errorf("restored %v, %v", restored, err)
	}
	expect("1")
	d()
	expect("0")

	// A knob that is as it should be, or that somebody else has set
	// meanwhile, stays.
	write("1")
	living.turn(n)()
	expect("1")
	write("0")
	e := living.turn(n)
	write("5")
	e()
	expect("5")

	// One that is not there is none.
	living.turn(knob{dir + "/none", "1"})()
}
