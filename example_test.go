package kinst_test

import (
	"context"
	"log"
	"os"

	"kinst"
)

func Example() {
	if err := countReads(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// countReads counts reads by process for five seconds.
func countReads(ctx context.Context) error {
	session, err := kinst.Open(kinst.Options{Warn: func(text string) { log.Print(text) }})
	if err != nil {
		return err
	}
	defer session.Close()
	program, err := session.Compile(ctx, kinst.Source{Text: `kinst::vfs_read:0 {@[execname] = count();} tick-5s {exit(0);}`})
	if err != nil {
		return err
	}
	if err := session.Start(ctx, program); err != nil {
		return err
	}
	_, err = session.Consume(ctx, os.Stdout)
	return err
}
