package calls

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"parley/api/wire"
	"parley/cmd/parley/command"
	"parley/cmd/parley/remote/server"
)

// readHours reads a time of day, as 09:00-20:00, which is called what.
func readHours(what, text, zone string) (wire.CallWindow, error) {
	from, to, ok := strings.Cut(text, "-")
	if !ok {
		return wire.CallWindow{}, command.UsageError(what + ": as 09:00-20:00")
	}
	return wire.CallWindow{Start: strings.TrimSpace(from), End: strings.TrimSpace(to), Timezone: zone}, nil
}

func newBulkHours() *cobra.Command {
	cmd := &cobra.Command{Use: "hours [FROM-TO]", Short: "Show or set when people are called",
		Long: "Shows the time of day in which the account calls people, or sets it. Single calls outside of it are refused; batches that are queued afterwards\n" +
			"wait for it, unless they have hours of their own. --any removes it.",
		Example: "  parley bulk hours\n  parley bulk hours 09:00-20:00\n  parley bulk hours --any", Args: cobra.MaximumNArgs(1)}
	zone := cmd.Flags().String("timezone", "destination", "by whose clocks: destination, or a time zone as Europe/Madrid")
	anyTime := cmd.Flags().Bool("any", false, "call people at any time")
	return server.Ask(cmd, command.OneObject, func(q *server.Request, args []string) error {
		w := &wire.CallWindow{}
		var err error
		switch {
		case *anyTime && len(args) > 0:
			return command.UsageError("--any: without hours")
		case *anyTime:
			if err := q.RemoveCallWindow(q.Ctx); err != nil {
				return err
			}
			return q.AnswerText(struct{}{}, "People are called at any time.\n")
		case len(args) > 0:
			hours, err := readHours("FROM-TO", args[0], *zone)
			if err != nil {
				return err
			}
			if w, err = q.SetCallWindow(q.Ctx, hours); err != nil {
				return err
			}
		default:
			if w, err = q.GetCallWindow(q.Ctx); err != nil {
				return err
			}
		}
		return q.AnswerText(w, fmt.Sprintf("%s-%s\t%s\n", w.Start, w.End, w.Timezone))
	})
}
