package cli

import (
	"os"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

// TestSignalSentTwiceIsOne sends a signal as timeout(1) does, to the process and
// then to its group. The second would end the test's process.
func TestSignalSentTwiceIsOne(t *testing.T) {
	ctx, stop := interrupts(t.Context())
	defer stop()
	if err := unix.Kill(os.Getpid(), unix.SIGINT); err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
	if err := unix.Kill(os.Getpid(), unix.SIGINT); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * againInterval) // and then the default is back
}

func TestWithoutRepeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := make(chan os.Signal, 2)
		out := withoutRepeats(t.Context(), in)
		var got []time.Duration
		start := time.Now()
		for range 2 {
			in <- unix.SIGINT
			in <- unix.SIGINT
			<-out
			got = append(got, time.Since(start))
			synctest.Wait()
			select {
			case <-out:
				t.Errorf("a signal %v after the start came twice", got[len(got)-1])
			default:
			}
			time.Sleep(2 * againInterval)
		}
		if got[0] != 0 || got[1] != 2*againInterval {
			t.Errorf("got signals after %v, want 0 and %v", got, 2*againInterval)
		}
	})
}
