package calls

import (
	"cmp"
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

func newCallsStats() *cobra.Command {
	var query client.StatisticsQuery
	cmd := server.Ask(&cobra.Command{Use: "stats", Short: "Sum up calls: how many, how long, how they went",
		Long: "Sums up the calls that began on some days (UTC) and have ended: how many there were, how many were answered, minutes and cost;\n" +
			"then how they ended, how many milliseconds turns waited for each stage and engine (p50 and p95, within 4.5 %), and the same\n" +
			"figures by agent and by day. Without dates it is of the last 30 days; --to is not included, and at most 400 days are summed up.",
		Example: "  parley calls stats\n  parley calls stats --from 2026-03-01 --to 2026-04-01 --direction inbound\n  parley calls stats --json | jq .total",
		Args:    cobra.NoArgs}, command.OneObject, func(q *server.Request, _ []string) error {
		if query.Direction != "" && !slices.Contains(callWords["direction"], query.Direction) {
			return command.UsageError("--direction is one of " + strings.Join(callWords["direction"], ", "))
		}
		st, err := q.Statistics(q.Ctx, query)
		if err != nil {
			return err
		}
		if q.JSON {
			return q.Answer(st, nil)
		}
		agents, err := q.Agents(q.Ctx)
		if err != nil {
			return err
		}
		names := map[string]string{}
		for _, a := range agents {
			names[a.ID] = a.Name
		}
		return q.Answer(st, func(w io.Writer) { showStatistics(w, st, names) })
	})
	fl := cmd.Flags()
	fl.StringVar(&query.From, "from", "", "the first day, as 2026-03-01")
	fl.StringVar(&query.To, "to", "", "the day after the last")
	fl.StringVar(&query.Agent, "agent", "", "only calls of this agent, also one that was deleted")
	fl.StringVar(&query.Direction, "direction", "", "only these: "+strings.Join(callWords["direction"], ", "))
	command.Complete(cmd, map[string][]string{"direction": callWords["direction"]})
	server.CompleteAgents(cmd)
	return cmd
}

// showStatistics shows totals before what they are made of; names are those of agents.
func showStatistics(w io.Writer, st *wire.Statistics, names map[string]string) {
	t := &st.Total
	fmt.Fprintf(w, "from\t%s\nto\t%s (not included)\ncalls\t%d\nanswered\t%d (%s)\nminutes\t%s\nUSD\t%s\n", st.From, st.To, t.Calls, t.Answered, share(t), minutes(t), t.Cost)
	if len(st.Outcomes) > 0 {
		fmt.Fprintln(w, "\nend\tcalls")
	}
	for _, o := range st.Outcomes {
		fmt.Fprintf(w, "%s\t%d\n", o.EndReason, o.Calls)
	}
	if len(st.Stages) > 0 {
		fmt.Fprintln(w, "\nstage\tengine\tturns\tp50 ms\tp95 ms")
	}
	for _, s := range st.Stages {
		engine := "-"
		if s.Engine != nil {
			engine = *s.Engine
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\n", s.Stage, engine, s.Turns, s.P50, s.P95)
	}
	showFigures(w, "agent", len(st.Agents), func(i int) (string, *wire.CallFigures) {
		a := &st.Agents[i]
		name := command.OrNone(a.AgentID)
		return cmp.Or(names[name], name), &a.CallFigures
	})
	showFigures(w, "day", len(st.Days), func(i int) (string, *wire.CallFigures) { return st.Days[i].Day, &st.Days[i].CallFigures })
}

func showFigures(w io.Writer, what string, n int, group func(i int) (string, *wire.CallFigures)) {
	if n > 0 {
		fmt.Fprintf(w, "\n%s\tcalls\tanswered\tshare\tminutes\tUSD\n", what)
	}
	for i := range n {
		name, f := group(i)
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%s\t%s\n", name, f.Calls, f.Answered, share(f), minutes(f), f.Cost)
	}
}

// share is how many of a hundred calls were answered.
func share(f *wire.CallFigures) string {
	if f.AnswerRate == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100**f.AnswerRate)
}

func minutes(f *wire.CallFigures) string { return fmt.Sprintf("%.1f", float64(f.Duration)/60) }
