package vm

// Where things are in the guest.
const (
	initPath    = "/init"
	planPath    = "/etc/kinst-vm.json"
	binaryPath  = "/bin/kinst"
	moduleRoot  = "/lib/modules"
	busyboxPath = "/bin/busybox"
)

// A guestPlan is what init has to do. The host writes it into the initramfs.
type guestPlan struct {
	Program string   // the path of the program
	Args    []string // its argument vector
	Env     []string
	Dir     string
	Script  string // path of the workload in the guest; empty for none
	// Paths of modules, in the order of loading.
	TransportModules, Modules []string
	// Marker is what follows the end of either output.
	Marker string
}
