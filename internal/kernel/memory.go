package kernel
type memory interface{}
func (k *Kernel) openMemory() (memory, error) { return nil, nil }
