// Command vendorjs fetches the browser files that others wrote and pages here load. Each
// directory has a vendor.json, which pins them by name, version and the SHA-512 of what
// was published:
//
//	go run ./cmd/internal/vendorjs -registry https://REGISTRY api/dashboard/vendor api/docs/vendor
//
// It is run by hand, never by a build: a test of package asset holds the files to the
// manifest without a network. For another version, change version and empty integrity,
// which is then taken from the registry; for another file, add its name.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Getenv("NPM_CONFIG_REGISTRY"), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "vendorjs:", err)
		os.Exit(1)
	}
}

// run does what args say; address is the registry's when they do not say.
func run(ctx context.Context, args []string, address string, out io.Writer) error {
	flags := flag.NewFlagSet("vendorjs", flag.ContinueOnError)
	registry := flags.String("registry", "", "address of the package `registry`, else that of NPM_CONFIG_REGISTRY")
	if err := flags.Parse(args); err != nil {
		return err
	}
	from := &source{cmp.Or(*registry, address)}
	switch {
	case from.address == "":
		return errors.New("say where packages are published: -registry, or NPM_CONFIG_REGISTRY")
	case flags.NArg() == 0:
		return errors.New("name the directories whose files are to be fetched")
	}
	for _, dir := range flags.Args() {
		if err := fetch(ctx, from, dir, out); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
	}
	return nil
}
