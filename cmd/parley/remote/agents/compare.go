package agents

import (
	"cmp"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"parley/api/wire"
	"parley/cmd/parley/command"
	"parley/cmd/parley/remote/server"
)

// withDraft is what --with says for an agent in a file.
const withDraft = "draft"

func newAgentCompare() *cobra.Command {
	cmd := &cobra.Command{Use: "compare AGENT_ID", Short: "Compare two versions of an agent, or a draft, on recorded calls",
		Long: "Has the models of the stored agent and of another version of it, or of a draft in a file, answer the turns of the agent's latest\n" +
			"recorded calls again, and shows turn by turn the recorded answer and the new ones. No function is run: one that is called as it was in\n" +
			"the call gives the result that it gave, and an answer ends with any other, which it would call. The tokens are charged like those\n" +
			"of tests; 100 turns at most are answered. Calls are kept for this while the agent's settings say record: true.",
		Example: "  parley agent compare ag_… --with 3\n  parley agent compare ag_… --with draft --file lola.yaml --calls 5\n  parley agent compare ag_… --with draft --file lola.yaml --json | jq '.calls[].answers'",
		Args:    cobra.ExactArgs(1)}
	fl := cmd.Flags()
	with := fl.String("with", "", "the version to compare with the stored agent, or draft for the agent in --file")
	file := fl.String("file", "", "the draft: a file as parley agent pull writes it, - for standard input")
	calls := fl.Int("calls", 0, "how many recorded calls, 20 at most (10)")
	return server.AgentArgs(server.Ask(cmd, command.OneObject, func(q *server.Request, args []string) error {
		asked := wire.NewComparison{Calls: *calls}
		name, err := compared(q, &asked, *with, *file)
		if err != nil {
			return err
		}
		a, err := q.Agent(q.Ctx, args[0])
		if err != nil {
			return err
		}
		if asked.Version != a.Version {
			asked.Against = a.Version
		}
		found, err := q.CompareAgent(q.Ctx, args[0], asked)
		if err != nil {
			return err
		}
		return q.Answer(found, func(w io.Writer) { showComparison(w, found, "version "+strconv.FormatInt(asked.Against, 10), name) })
	}))
}

// compared fills in what is compared with the stored agent, and returns what it is called.
func compared(q *server.Request, asked *wire.NewComparison, with, file string) (name string, err error) {
	if asked.Calls < 0 || asked.Calls > 20 {
		return "", command.UsageError("--calls: 1 to 20")
	}
	if with != withDraft {
		if file != "" {
			return "", command.UsageError("--file: needs --with draft")
		}
		if asked.Version, err = strconv.ParseInt(with, 10, 64); err != nil || asked.Version < 1 {
			return "", command.UsageError("--with: a version of the agent, such as 3, or draft")
		}
		return "version " + with, nil
	}
	if file == "" {
		return "", command.UsageError("--with draft: needs --file, where the draft is")
	}
	f, err := readAgent(q.Command, file)
	if err != nil {
		return "", err
	}
	asked.Definition = &wire.AgentDraft{RawMessage: f.document}
	return withDraft, nil
}

// showComparison prints what was said and what would be, for people: then is what the agent compared with is called, now the other.
func showComparison(w io.Writer, found *wire.Comparison, then, now string) {
	server.Total(w, len(found.Calls), "recorded call", false)
	for i := range found.Calls {
		c := &found.Calls[i]
		fmt.Fprintf(w, "call\t%s\t%s\t%s\n", c.CallID, command.Stamp(&c.StartedAt), c.Outcome)
		for k := range c.Answers {
			a := &c.Answers[k]
			differs := ""
			if a.Differs {
				differs = "\tdiffers"
			}
			fmt.Fprintf(w, "turn %d\tcaller\t%s%s\n", a.Turn, cmp.Or(server.OneLine(a.Heard), "-"), differs)
			showSide(w, "in the call", &a.Recorded)
			if a.Then != nil {
				showSide(w, then, a.Then)
			}
			showSide(w, now, &a.Now)
		}
	}
	fmt.Fprintf(w, "tokens\t%d in\t%d out\n", found.InTokens, found.OutTokens)
	if found.LeftOut > 0 {
		fmt.Fprintf(w, "left out\t%d %s\t%s\n", found.LeftOut, server.Plural("turn", int64(found.LeftOut)), found.Stopped)
	}
}

// showSide prints what an agent says and calls in a turn.
func showSide(w io.Writer, who string, s *wire.AnswerSide) {
	text := cmp.Or(server.OneLine(s.Text), "-")
	if s.Failed {
		text = "the model did not answer"
	}
	fmt.Fprintf(w, "\t%s\t%s\n", who, text)
	for _, f := range s.Functions {
		verb := "would call"
		if f.Recorded {
			verb = "calls"
		}
		fmt.Fprintf(w, "\t\t%s %s %s\n", verb, f.Name, server.OneLine(f.Arguments))
	}
}
