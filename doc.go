// Package kinst traces the running kernel with programs in D, as dtrace(1)
// does: what the command kinst can do, a Go program can do with it.
//
//	s, err := kinst.Open(kinst.Options{})
//	...
//	defer s.Close()
//	p, err := s.Compile(ctx, kinst.Source{Text: `kinst::vfs_read:9 {trace(regs[R_RSI]);}`})
//	...
//	err = s.Start(ctx, p)
//	...
//	status, err := s.Consume(ctx, os.Stdout)
package kinst
