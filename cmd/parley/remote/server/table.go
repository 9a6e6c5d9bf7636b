package server

import (
	"io"

	"github.com/spf13/cobra"

	"parley/cmd/parley/command"
)

// Table is a command that writes one of the server's exports.
func Table(name, short, long string) *cobra.Command {
	cmd := &cobra.Command{Use: "export [FILE.csv]", Short: short, Long: long + " Without FILE it is printed.",
		Example: "  parley " + name + " export " + name + ".csv", Args: cobra.MaximumNArgs(1)}
	return Ask(cmd, "print what was done as one JSON object", func(q *Request, args []string) error {
		if len(args) == 0 {
			args = []string{"-"}
		}
		if args[0] == "-" && q.JSON {
			return command.UsageError("--json and the table cannot both go to standard output: name a file")
		}
		table, err := q.Table(q.Ctx, name)
		if err != nil {
			return err
		}
		defer table.Close()
		if args[0] == "-" {
			_, err := io.Copy(q.OutOrStdout(), table)
			return err
		}
		to, err := OpenOutput(q.Command, args[0], false)
		if err != nil {
			return err
		}
		n, err := io.Copy(to, table)
		if err := to.Finish(err); err != nil {
			return err
		}
		return q.Done(map[string]any{"file": args[0], "bytes": n}, "%s: %d bytes\n", args[0], n)
	})
}
