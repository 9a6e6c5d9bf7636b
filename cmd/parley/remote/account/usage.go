package account

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"parley/api/client"
	"parley/cmd/parley/command"
	"parley/cmd/parley/remote/server"
)

// groupings are what usage is summed up by.
var groupings = []string{"day", "agent", "call", "component"}

// maxGroups is how many groups are printed, which is more than people read; a file
// has them all.
const maxGroups = 1000

func newUsageCommand() *cobra.Command {
	var query client.UsageQuery
	cmd := server.Ask(&cobra.Command{Use: "usage", Short: "Sum up what was used and what it cost",
		Long: "Sums up what the account whose key is used has used, by day (UTC), agent, call or component, newest first, with exact\n" +
			"amounts in US dollars. Dates begin at midnight UTC, and --to is not included. Sessions count when they end; what those\n" +
			"in progress have used is said apart. With --csv all of it goes to a file, - for standard output, from one moment.",
		Example: "  parley usage --by component --from 2026-03-01 --to 2026-04-01\n  parley usage --by call --csv march.csv\n  parley usage --json | jq .total",
		Args:    cobra.NoArgs}, command.OneObject, func(q *server.Request, _ []string) error {
		if !slices.Contains(groupings, query.By) {
			return command.UsageError("--by is one of " + strings.Join(groupings, ", "))
		}
		if file := q.Flag("csv").Value.String(); file != "" {
			return saveUsage(q, query, file)
		}
		got, more, err := q.Client.Usage(q.Ctx, query, maxGroups)
		if err != nil {
			return err
		}
		if more {
			fmt.Fprintf(q.ErrOrStderr(), "only the newest %d are shown; --csv has all, and the total counts all\n", maxGroups)
		}
		return q.Answer(struct {
			*client.Usage
			HasMore bool `json:"has_more"`
		}{got, more}, func(w io.Writer) { showUsage(w, got) })
	})
	fl := cmd.Flags()
	fl.StringVar(&query.By, "by", groupings[0], strings.Join(groupings, ", "))
	fl.StringVar(&query.From, "from", "", "not before this date, or RFC 3339 time")
	fl.StringVar(&query.To, "to", "", "before this date, or RFC 3339 time")
	fl.String("csv", "", "write a file in CSV, - for standard output")
	cmd.MarkFlagsMutuallyExclusive("csv", "json")
	command.Complete(cmd, map[string][]string{"by": groupings})
	return cmd
}

// saveUsage writes the file, which appears when it is complete.
func saveUsage(q *server.Request, query client.UsageQuery, file string) error {
	table, err := q.UsageCSV(q.Ctx, query)
	if err != nil {
		return err
	}
	defer table.Close()
	if file == "-" {
		_, err := io.Copy(q.OutOrStdout(), table)
		return err
	}
	to, err := server.OpenOutput(q.Command, file, false)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, table)
	return to.Finish(err)
}

// showUsage shows the total before what it is made of.
func showUsage(w io.Writer, u *client.Usage) {
	fmt.Fprintf(w, "total\t\t\t%s USD\n", u.Total)
	if u.Accrued != 0 {
		fmt.Fprintf(w, "in progress\t\t\t%s USD\n", u.Accrued)
	}
	for _, g := range u.Groups {
		key := command.OrNone(g.Key)
		if u.GroupBy != "component" {
			fmt.Fprintf(w, "%s\t\t\t%s USD\n", key, g.Amount)
			key = ""
		}
		for _, c := range g.Components {
			if u.GroupBy != "component" {
				key = "  " + c.Component
			}
			fmt.Fprintf(w, "%s\t%d\t%s\t%s USD\n", key, c.Quantity, server.Plural(c.Unit, c.Quantity), c.Amount)
		}
	}
}
