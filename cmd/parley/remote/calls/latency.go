package calls

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"parley/api/client"
	"parley/api/wire"
	"parley/cmd/parley/command"
	"parley/cmd/parley/remote/server"
)

// latencyWords are what the flags of the latency command take, as the API has it.
var latencyWords = map[string][]string{"by": {"day", "hour", "agent"}, "direction": {"web", "inbound", "outbound"}}

func newLatencyCommand() *cobra.Command {
	var query client.LatencyQuery
	cmd := &cobra.Command{Use: "latency", Short: "Show how quickly agents answered",
		Long: "Shows how long callers waited for answers, in milliseconds, in all and by day, hour or agent: half of the turns, nine of ten, and 99 of a\n" +
			"hundred took no longer, from the caller's last word to the first audio; and half of the turns by stage. Without a range it is of the\n" +
			"last 30 days. Dates begin at midnight UTC, and --to is not included.",
		Example: "  parley latency\n  parley latency --by agent --from 2026-03-01\n  parley latency engines", Args: cobra.NoArgs}
	fl := cmd.Flags()
	fl.StringVar(&query.By, "by", "day", strings.Join(latencyWords["by"], ", "))
	fl.StringVar(&query.Agent, "agent", "", "only calls of this agent, also one that was deleted")
	fl.StringVar(&query.Direction, "direction", "", "only these: "+strings.Join(latencyWords["direction"], ", "))
	fl.StringVar(&query.From, "from", "", "not before this date, or RFC 3339 time")
	fl.StringVar(&query.To, "to", "", "before this date, or RFC 3339 time")
	command.Complete(cmd, latencyWords)
	server.CompleteAgents(cmd)
	cmd.AddCommand(newLatencyEngines())
	return server.Ask(cmd, command.OneObject, func(q *server.Request, _ []string) error {
		for name, given := range map[string]string{"by": query.By, "direction": query.Direction} {
			if given != "" && !slices.Contains(latencyWords[name], given) {
				return command.UsageError("--" + name + " is one of " + strings.Join(latencyWords[name], ", "))
			}
		}
		l, err := q.Client.Latency(q.Ctx, query)
		if err != nil {
			return err
		}
		if l.HasMore {
			fmt.Fprintln(q.ErrOrStderr(), "only the first are shown; the total counts all")
		}
		return q.Answer(l, func(w io.Writer) { showLatency(w, l) })
	})
}

func showLatency(w io.Writer, l *client.Latency) {
	if l.Total == nil {
		fmt.Fprintln(w, "no turns")
		return
	}
	fmt.Fprintf(w, "%s\tcalls\tturns\tp50\tp90\tp99\tendpoint\tmodel\tvoice\n", l.GroupBy)
	line := func(name string, g *wire.LatencyGroup) {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n", name, g.Calls, g.Turns, g.Total.P50, g.Total.P90, g.Total.P99, g.Endpoint.P50, g.Model.P50, g.Voice.P50)
	}
	line("all", l.Total)
	for i := range l.Groups {
		line(server.OrDash(l.Groups[i].Key), &l.Groups[i])
	}
}

func newLatencyEngines() *cobra.Command {
	var query client.LatencyQuery
	cmd := &cobra.Command{Use: "engines", Short: "Show how quickly engines answered",
		Long:    "Shows how long turns waited for language models and voices, in milliseconds, by engine. Without a range it is of the last seven days.",
		Example: "  parley latency engines --from 2026-03-01", Args: cobra.NoArgs}
	fl := cmd.Flags()
	fl.StringVar(&query.Agent, "agent", "", "only calls of this agent, also one that was deleted")
	fl.StringVar(&query.Direction, "direction", "", "only these: "+strings.Join(latencyWords["direction"], ", "))
	fl.StringVar(&query.From, "from", "", "not before this date, or RFC 3339 time")
	fl.StringVar(&query.To, "to", "", "before this date, or RFC 3339 time")
	command.Complete(cmd, map[string][]string{"direction": latencyWords["direction"]})
	server.CompleteAgents(cmd)
	return server.Ask(cmd, command.OneObject, func(q *server.Request, _ []string) error {
		if query.Direction != "" && !slices.Contains(latencyWords["direction"], query.Direction) {
			return command.UsageError("--direction is one of " + strings.Join(latencyWords["direction"], ", "))
		}
		list, err := q.EngineLatency(q.Ctx, query)
		if err != nil {
			return err
		}
		return q.Answer(map[string]any{"data": list}, func(w io.Writer) {
			server.Total(w, len(list), "engine", false)
			fmt.Fprintln(w, "stage\tengine\tcalls\tturns\tp50\tp95")
			for _, e := range list {
				fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%d\n", e.Stage, e.Engine, e.Calls, e.Turns, e.P50, e.P95)
			}
		})
	})
}

func newConsentsCommand() *cobra.Command {
	cmd := server.Ask(&cobra.Command{Use: "consents", Short: "List the evidence that callees had agreed",
		Long: "Lists who confirmed that the callee of a call had agreed to be called, the oldest first: one row for each call that was placed. Each row\n" +
			"has a seal that vouches for it and for all before it; the documentation says how it is computed. The number called stands there as a hash.",
		Example: "  parley consents\n  parley consents export consents.csv", Args: cobra.NoArgs}, command.OneObject, func(q *server.Request, _ []string) error {
		list, more, err := q.Consents(q.Ctx, server.MostListed)
		if err != nil {
			return err
		}
		return server.Listed(q, list, more, "consent", func(w io.Writer, c *wire.Consent) {
			fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\n", c.No, command.Stamp(&c.At), c.CallID, c.AgentID, c.KeyID, c.IP)
		})
	})
	cmd.AddCommand(server.Table("consents", "Write the evidence as a CSV file", "Writes all rows with their hashes and seals, from one moment."))
	return cmd
}
