package calls

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"parley/api/wire"
	"parley/cmd/parley/command"
	"parley/cmd/parley/remote/server"
)

func newCallsCompletions() *cobra.Command {
	return server.Ask(&cobra.Command{Use: "completions CALL_ID [NO]", Short: "Show what the model of a call was asked, and answered",
		Long: "Lists the questions to the language model of a call, the first one first: when, to which engine, how many milliseconds its first\n" +
			"words and the whole answer took, and what it wrote, of which not all was heard. With its number a question is shown as the model\n" +
			"got it: prompt, functions, conversation. They are kept for 30 days, for owners of the account: the key must be an owner's.",
		Example: "  parley calls completions ses_…\n  parley calls completions ses_… 3\n  parley calls completions ses_… 3 --json | jq .messages", Args: cobra.RangeArgs(1, 2)},
		command.OneObject, func(q *server.Request, args []string) error {
			if len(args) == 2 {
				c, err := q.CallCompletion(q.Ctx, args[0], args[1])
				if err != nil {
					return err
				}
				return q.Answer(c, func(w io.Writer) { showCompletionDetail(w, c) })
			}
			list, err := q.CallCompletions(q.Ctx, args[0])
			if err != nil {
				return err
			}
			return q.Answer(list, func(w io.Writer) {
				for i := range list.Data {
					showCompletion(w, &list.Data[i])
				}
			})
		})
}

func showCompletion(w io.Writer, c *wire.CallCompletion) {
	ms := func(ms *int64) string {
		if ms == nil {
			return "-"
		}
		return fmt.Sprintf("%d ms", *ms)
	}
	fmt.Fprintf(w, "%d\t%.1fs\t%s\t%s\tfirst %s\ttook %s\t%s\n", c.No, c.At, server.OrDash(c.Engine), c.Outcome, ms(c.FirstMS), ms(c.TookMS), server.OneLine(c.Answer))
	for _, f := range c.Functions {
		fmt.Fprintf(w, "\tfunction\t%s %s\n", f.Name, server.OneLine(f.Arguments))
	}
	if c.Failure != nil {
		fmt.Fprintf(w, "\tfailed\t%s\n", *c.Failure)
	}
}

func showCompletionDetail(w io.Writer, c *wire.CallCompletionDetail) {
	fmt.Fprintf(w, "system\t%s\n", server.OneLine(c.System))
	for _, t := range c.Tools {
		fmt.Fprintf(w, "function\t%s: %s\n", t.Name, server.OneLine(t.Description))
	}
	for _, m := range c.Messages {
		fmt.Fprintf(w, "%s\t%s\n", m.Role, server.OneLine(m.Text))
		for _, f := range m.Functions {
			fmt.Fprintf(w, "\tcalls %s %s\n", f.Name, server.OneLine(f.Arguments))
		}
	}
	showCompletion(w, &c.CallCompletion)
}
