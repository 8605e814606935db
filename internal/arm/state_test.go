package arm

import (
	"os"
	"path/filepath"
	"testing"
)

// What could not be written is written the next time.
func TestStateWrittenAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	file := filepath.Join(dir, "knobs.json")
	s := &state{Knobs: map[string]*turned{"/x": {Was: "0", Now: "1"}}}
	if err := s.write(file); err == nil {
		t.Fatal("written into a directory that is not there")
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := s.write(file); err != nil {
		t.Fatal(err)
	}
	again, err := readState(file)
	if err != nil || again.Knobs["/x"] == nil {
		t.Errorf("read %v, %v", again, err)
	}
}
