package kinst

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"kinst/internal/codegen"
	"kinst/internal/kernel"
)

// allowed explains an error that comes of missing privileges: doing is what was
// refused, which takes BPF programs.
func allowed(doing string, err error) error {
	if errors.Is(err, codegen.ErrWrites) {
		return explained(err, unix.CAP_SYS_ADMIN)
	}
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	if v := (*ebpf.VerifierError)(nil); errors.As(err, &v) && len(v.Log) > 0 {
		return err // of the verifier, which says EACCES where it doubts an access
	}
	if missing, err2 := kernel.Missing(unix.CAP_BPF, unix.CAP_PERFMON); err2 == nil && len(missing) > 0 {
		err = unix.EPERM // at which of the steps does not matter
	}
	return fmt.Errorf("this process may not %s: %w", doing, explained(err, unix.CAP_BPF, unix.CAP_PERFMON))
}

// explained adds to an error that comes of missing privileges what to do, if
// it does not say so.
func explained(err error, capabilities ...int) error {
	if refused := (*kernel.RefusedError)(nil); errors.As(err, &refused) {
		return err
	}
	return kernel.Refused(err, capabilities...)
}
