package stdio

// Start is for the linker's flag -E and never called.
func Start()
