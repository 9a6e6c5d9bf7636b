package agents

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"parley/api/wire"
	"parley/cmd/parley/command"
	"parley/cmd/parley/remote/server"
)

const simulationPoll = time.Second

// errTestsFailed is a simulation that is not as expected.
var errTestsFailed = errors.New("not all test cases passed")

// testOptions are the flags of the test command.
type testOptions struct {
	cases       []string
	file, junit string
	runs        int
}

func newTestCommand() *cobra.Command {
	var o testOptions
	cmd := &cobra.Command{Use: "test AGENT_ID", Short: "Run the test cases of an agent, and check what it says",
		Long: "Has the server run the test cases that are kept with an agent, waits for the end and prints the result of each. With --file\n" +
			"the agent in the file is tried, as parley agent pull writes it, and not the one that is stored. --junit writes a report for build servers.\n" +
			"The tokens of the models are charged. Exit status 1 when a case failed.",
		Example: "  parley test ag_…\n  parley test ag_… --case \"Opening hours\" --runs 5\n  parley test ag_… --file agent.yaml --junit report.xml",
		Args:    cobra.ExactArgs(1)}
	fl := cmd.Flags()
	fl.StringArrayVar(&o.cases, "case", nil, "only this case, by its name or identifier; may be repeated")
	fl.StringVar(&o.file, "file", "", "try the agent of this file in place of the stored one")
	fl.IntVar(&o.runs, "runs", 0, "how often each case is run, in place of what its script says")
	fl.StringVar(&o.junit, "junit", "", "write the results to this file as JUnit XML")
	return server.Ask(cmd, command.OneObject, func(q *server.Request, args []string) error { return test(q, args[0], o) })
}

func test(q *server.Request, agent string, o testOptions) error {
	if o.runs < 0 {
		return command.UsageError("--runs: 1 or more")
	}
	wanted := wire.NewSimulation{Runs: o.runs}
	for _, name := range o.cases {
		c, err := namedCase(q, agent, name)
		if err != nil {
			return err
		}
		wanted.Cases = append(wanted.Cases, c.ID)
	}
	if o.file != "" {
		f, err := readAgent(q.Command, o.file)
		if err != nil {
			return err
		}
		wanted.Definition = &wire.AgentDraft{RawMessage: f.document}
	}
	begun, err := q.Simulate(q.Ctx, agent, wanted)
	if err != nil {
		return err
	}
	s, err := awaitSimulation(q, begun.ID)
	if err != nil {
		return err
	}
	if o.junit != "" {
		text, err := junit(s)
		if err != nil {
			return err
		}
		if err := os.WriteFile(o.junit, text, 0o666); err != nil {
			return err
		}
	}
	if err := q.Answer(s, func(w io.Writer) { showTests(w, s) }); err != nil {
		return err
	}
	if !s.OK {
		return errTestsFailed
	}
	return nil
}

// awaitSimulation waits for the end of a simulation. When the command is interrupted it is canceled.
func awaitSimulation(q *server.Request, id string) (*wire.SimulationDetail, error) {
	for {
		s, err := q.Simulation(q.Ctx, id)
		if err != nil && q.Ctx.Err() == nil || err == nil && s.EndedAt != nil {
			return s, err
		}
		select {
		case <-q.Ctx.Done():
			ctx, cancel := context.WithTimeout(context.WithoutCancel(q.Ctx), server.CancelPatience)
			defer cancel()
			return nil, errors.Join(q.Ctx.Err(), q.CancelSimulation(ctx, id))
		case <-time.After(simulationPoll):
		}
	}
}

// showTests prints what cases came to, for people: of what failed the conversation, too.
func showTests(w io.Writer, s *wire.SimulationDetail) {
	for _, c := range s.Cases {
		switch {
		case c.OK == nil:
			fmt.Fprintf(w, "-     %s: not run\n", c.Name)
		case *c.OK:
			fmt.Fprintf(w, "ok    %s\n", c.Name)
		default:
			fmt.Fprintf(w, "FAIL  %s: %d of %d runs\n", c.Name, c.Failed, c.Runs)
		}
		for i := range c.Results {
			if r := &c.Results[i]; !r.OK {
				showFailed(w, r)
			}
		}
	}
	fmt.Fprintf(w, "%d of %d cases as expected, $%s\n", s.Ran-s.Unmet, s.Total, s.Cost)
	if s.Reason != nil {
		fmt.Fprintf(w, "%s: %s\n", s.State, *s.Reason)
	}
}

func showFailed(w io.Writer, r *wire.SimulatedRun) {
	fmt.Fprintf(w, "      run %d\n", r.Run)
	for _, l := range r.Transcript {
		role := l.Role
		if role == "user" {
			role = "caller"
		}
		fmt.Fprintf(w, "%13.2f  %-6s  %s\n", float64(l.AtMS)/1000, role, l.Text)
	}
	for _, text := range faults(r) {
		fmt.Fprintf(w, "      %s\n", text)
	}
}

// faults are what was wrong in a run.
func faults(r *wire.SimulatedRun) (list []string) {
	for _, c := range r.Checks {
		if !c.OK {
			list = append(list, c.Expected+"; found "+c.Found)
		}
	}
	if r.Problem != "" {
		list = append(list, r.Problem)
	}
	return list
}
