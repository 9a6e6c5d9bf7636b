package numbers

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"parley/api/wire"
	"parley/cmd/parley/command"
	"parley/cmd/parley/remote/server"
)

func newNumberRules() *cobra.Command {
	cmd := &cobra.Command{Use: "rules NUMBER", Short: "Show or set where calls to a number go",
		Long: "Shows the rules of a number as a document: opening hours, holidays, who takes calls outside the hours, a menu of keys, and where calls go that\n" +
			"cannot be taken. With --file it sets them, from YAML or JSON, - for standard input; the document {} removes them.",
		Example: "  parley number rules +34911234567 > rules.yaml\n  parley number rules +34911234567 --file rules.yaml", Args: cobra.ExactArgs(1)}
	file := cmd.Flags().String("file", "", "the document that replaces the rules")
	return server.Ask(cmd, command.OneObject, func(q *server.Request, args []string) error {
		var rules *wire.NumberRules
		if q.Flag("file").Changed {
			document, err := rulesFile(q, *file)
			if err != nil {
				return err
			}
			rules = &wire.NumberRules{RawMessage: document}
		}
		id, err := numberID(q, args[0])
		if err != nil {
			return err
		}
		if rules == nil {
			rules, err = q.GetNumberRules(q.Ctx, id)
		} else {
			rules, err = q.ReplaceNumberRules(q.Ctx, id, *rules)
		}
		if err != nil {
			return err
		}
		document, err := wire.YAML(rules.RawMessage)
		if err != nil {
			return err
		}
		return q.AnswerText(rules, document)
	})
}

// rulesFile reads the document of rules.
func rulesFile(q *server.Request, path string) (json.RawMessage, error) {
	text, err := server.ReadText(q.Command, path)
	if err != nil {
		return nil, err
	}
	document, err := wire.FromYAML(text)
	if err != nil {
		return nil, command.UsageError(path + ": " + err.Error())
	}
	return document, nil
}

func newNumberTry() *cobra.Command {
	var trial wire.RoutingTrial
	cmd := &cobra.Command{Use: "try NUMBER", Short: "Say where a call to a number would go, and why",
		Long: "Asks the server where a call to a number would go by its rules, or by those of a file, and why. Nothing is called and nothing is charged.\n" +
			"A time without an offset is in the time zone of the rules.",
		Example: "  parley number try +34911234567 --at 2026-12-25T10:00\n  parley number try +34911234567 --keys 2 --file rules.yaml", Args: cobra.ExactArgs(1)}
	fl := cmd.Flags()
	fl.StringVar(&trial.At, "at", "", "when the call comes, as 2026-12-25T10:00; now")
	fl.StringVar(&trial.Keys, "keys", "", "what the caller presses in the menu, a key each time it is asked")
	file := fl.String("file", "", "rules to try in place of the number's")
	out := map[string]*bool{"lines": fl.Bool("lines-out", false, "all lines of the account are busy"), "balance": fl.Bool("no-balance", false, "the account cannot pay for the call"),
		"agent": fl.Bool("no-agent", false, "the agent cannot be reached")}
	cmd.MarkFlagsMutuallyExclusive("lines-out", "no-balance", "no-agent")
	return server.Ask(cmd, command.OneObject, func(q *server.Request, args []string) error {
		for what, is := range out {
			if *is {
				trial.Out = what
			}
		}
		if *file != "" {
			document, err := rulesFile(q, *file)
			if err != nil {
				return err
			}
			trial.Rules = &wire.NumberRules{RawMessage: document}
		}
		id, err := numberID(q, args[0])
		if err != nil {
			return err
		}
		r, err := q.TryNumber(q.Ctx, id, trial)
		if err != nil {
			return err
		}
		return q.Answer(r, func(w io.Writer) { showRouted(w, r) })
	})
}

// showRouted shows where a call would go.
func showRouted(w io.Writer, r *wire.Routed) {
	fmt.Fprint(w, r.Action)
	if r.AgentID != nil {
		fmt.Fprintf(w, "\t%s", *r.AgentID)
	}
	if r.Number != "" {
		fmt.Fprintf(w, "\t%s", r.Number)
	}
	if r.Message != "" {
		fmt.Fprintf(w, "\t%q", r.Message)
	}
	fmt.Fprintln(w)
	for _, why := range r.Reasons {
		fmt.Fprintln(w, why)
	}
}
