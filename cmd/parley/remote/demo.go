package remote

import (
	"cmp"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"parley/cmd/parley/command"
	"parley/cmd/parley/remote/profile"
	"parley/cmd/parley/remote/server"
)

// DemoLink asks for a link to the pages of the demonstration. keyHere finds its key when the command
// line and the environment have none.
func DemoLink(keyHere func(*cobra.Command) (string, error)) *cobra.Command {
	cmd := &cobra.Command{
		Use: "link", Short: "Print a link that opens the demonstration's pages",
		Long: "Asks the running server for a link to the pages of its demonstration. The link opens once, and is dead when the server has stopped.\n" +
			"The demonstration's key is taken from the data directory, unless another is given.",
		Example: "  parley demo link\n  parley demo link --url http://127.0.0.1:9000",
		Args:    cobra.NoArgs,
	}
	r := server.Flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) (err error) {
		if cmp.Or(r.Key, os.Getenv("PARLEY_API_KEY"), r.Profile) == "" {
			if r.Key, err = keyHere(cmd); err != nil {
				return err
			}
			r.URL = cmp.Or(r.URL, os.Getenv("PARLEY_URL"), profile.DefaultURL) // of this machine, not of a profile
		}
		c, err := r.Client()
		if err != nil {
			return err
		}
		ctx, stop := command.CtrlC(cmd)
		defer stop()
		link, err := c.DemoLink(ctx)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(cmd.OutOrStdout(), link)
		return err
	}
	return server.Showing(cmd)
}
