package syntax

import (
	"errors"
	"os"
	"strings"
	"testing"
)

func TestParseProbeSpec(t *testing.T) {
	for _, tt := range []struct {
		spec Spec
		text string
		want string // provider:module:function:name of each description
	}{
		{ByName, "BEGIN", ":::BEGIN"},
		{ByName, "vfs_read:entry /arg0/ { trace(1) }", "::vfs_read:entry"},
		{ByName, "vmlinux:vfs_read:", ":vmlinux:vfs_read:"},
		{ByName, "kinst::vfs_read:9, fbt:::", "kinst::vfs_read:9 fbt:::"},
		{ByName, "17 { trace(1) }", "17"},
		{ByFunction, "vfs_read", "::vfs_read:"},
		{ByFunction, "ext4:ext4_sync_file { trace(1) }", ":ext4:ext4_sync_file:"},
		{ByFunction, "fbt:ext4:ext4_*, kinst::vfs_read", "fbt:ext4:ext4_*: kinst::vfs_read:"},
		{ByModule, "ext4 /pid == 1/ { trace(1) }", ":ext4::"},
		{ByModule, "fbt:ext4", "fbt:ext4::"},
		{ByProvider, "syscall { @ = count() }", "syscall:::"},
		{ByProvider, "pid$target", "pid7:::"},
		{ByID, "17 { trace(1) }", "17"},
		{ByID, "17, 0x12", "17 0x12"},
		{ByID, "$target", "7"},
	} {
		f, err := ParseProbeSpec(&Source{Text: tt.text}, tt.spec, &Config{Target: 7})
		if err != nil {
			t.Errorf("%s %q: %v", tt.spec, tt.text, err)
			continue
		}
		var got []string
		for _, p := range f.Decls[0].(*Clause).Probes {
			if p.ID > 0 {
				got = append(got, p.Text)
				continue
			}
			got = append(got, strings.Join([]string{p.Provider, p.Module, p.Function, p.Name}, ":"))
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s %q: %s, want %s", tt.spec, tt.text, strings.Join(got, " "), tt.want)
		}
	}
}

func TestIDsAreNumbers(t *testing.T) {
	for text, want := range map[string]string{
		"foo":        `"foo" is not the ID of a probe, a number that -l shows; -n takes names`,
		"BEGIN {}":   `"BEGIN" is not the ID of a probe`,
		"1x":         `"x" is not the ID of a probe`,
		"1, BEGIN":   `"BEGIN" is not the ID of a probe`,
		"-1":         `"-1" is not the ID of a probe`,
		"1:2":        `"1:2" is not the ID of a probe`,
		"$target:x":  `"7:x" is not the ID of a probe`,
		"0":          "invalid probe identifier 0",
		"4294967296": "exceeds maximum probe id",
		"":           "empty D program",
	} {
		if _, err := ParseProbeSpec(&Source{Text: text}, ByID, &Config{Target: 7}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

// TestIncluded looks at the places of errors in what a preprocessor wrote.
func TestIncluded(t *testing.T) {
	header := &Source{Name: "my.h", Text: "int x y;\n"}
	script := &Source{Name: "my.d", Text: "#include \"my.h\"\nBEGIN { = }\n"}
	cfg := &Config{Included: func(name string) *Source {
		return map[string]*Source{"my.h": header, "my.d": script}[name]
	}}
	_, err := Parse(&Source{Name: "my.d", Text: strings.Join([]string{
		`# 1 "<stdin>"`,
		`# 1 "<built-in>"`,
		`# 1 "my.h" 1`,
		`int x y;`,
		`# 2 "<stdin>" 2`,
		`BEGIN { = }`,
		`# 7 "other.h" 1 3 4`,
		`int z w;`,
	}, "\n")}, cfg)
	var list ErrorList
	if !errors.As(err, &list) || len(list) != 3 {
		t.Fatalf("%v", err)
	}
	for i, want := range []string{"my.h:1", "my.d:2", "other.h:7"} {
		if got := list[i].Pos.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if list[0].Pos.Source != header || list[1].Pos.Source != script {
		t.Error("the sources are not those that Included returned")
	}
}

func TestProcessIDs(t *testing.T) {
	if ids := ProcessIDs(); ids.Pid != os.Getpid() || ids.Euid != os.Geteuid() {
		t.Errorf("%+v", ids)
	}
}

// TestIsTypeIsAskedLast counts what the configuration is asked.
func TestIsTypeIsAskedLast(t *testing.T) {
	asked := map[string]bool{}
	cfg := &Config{IsType: func(name string) bool { asked[name] = true; return false }}
	_, err := Parse(&Source{Text: `
		typedef int mine_t; int var; string names[int, string];
		mine_t *p; folio_t *q; struct s { page_t x; };
		BEGIN {
			(mine_t)-1; (uint64_t)&x; (var)-1; (timestamp) - 1; fresh = 1; (fresh)-1;
			(page_t)x; (page_t *)&x; (struct s *)-1; (x * y)-1; sizeof (struct s);
			(unknown)-1; sizeof (operand);
		}`}, cfg)
	if err != nil {
		t.Fatal(err)
	}
	delete(asked, "unknown")
	delete(asked, "operand")
	if len(asked) > 0 {
		t.Errorf("asked for %v", asked)
	}
}
