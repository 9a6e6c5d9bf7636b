package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"parley/cmd/parley/demo"
)

func newDemoCommand() *cobra.Command {
	return group("demo", "Open the demonstration's pages",
		"A server that was started with --demo has an account to try things with. Its pages open with a link.", "  parley demo link", newDemoLinkCommand())
}

func newDemoLinkCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "link", Short: "Print a link that opens the demonstration's pages",
		Long: "Asks the running server for a link to the pages of its demonstration. The link opens once, and is dead when the server has stopped.\n" +
			"The demonstration's key is taken from the data directory, unless another is given.",
		Example: "  parley demo link\n  parley demo link --url http://127.0.0.1:9000",
		Args:    cobra.NoArgs,
	}
	r := remoteFlags(cmd)
	configFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if r.credential() == "" {
			cfg, _, err := loadConfig(cmd)
			if err != nil {
				return err
			}
			dir, _ := chooseDataDir(cfg)
			key, err := os.ReadFile(filepath.Join(dir, demo.KeyFile))
			if err != nil {
				return fmt.Errorf("no demonstration has been started here: %w", err)
			}
			r.key = strings.TrimSpace(string(key))
		}
		c, err := r.client()
		if err != nil {
			return err
		}
		ctx, stop := ctrlC(cmd)
		defer stop()
		link, err := c.DemoLink(ctx)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(cmd.OutOrStdout(), link)
		return err
	}
	return cmd
}
