package syntax

import "testing"

func TestParseForms(t *testing.T) {
	for _, text := range []string{
		`BEGIN { exit(0); }`,
		`kinst::vfs_read:0x9, syscall::read*:entry /pid == $target && arg0 / 2 > 1/ { @[execname, stack()] = count(); self->ts = timestamp }`,
		`syscall:::entry`,
		`int x; self int y; string s[int, string]; this char *z, **w; BEGIN { if (x) { trace(1) } else if (y) trace(2); else { } }`,
		`foo_t *x; foo_t* y; foo* { trace((foo_t *)arg0); trace((struct task_struct *)arg0->comm); }`,
	} {
		if _, err := Parse(&Source{Text: text}, nil); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
