package agents

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"parley/api/wire"
	"parley/cmd/parley/command"
	"parley/cmd/parley/foreign"
	"parley/cmd/parley/remote/server"
)

func newAgentImport() *cobra.Command {
	cmd := &cobra.Command{Use: "import FILE...", Short: "Make an agent's file of what Vapi or Retell exports",
		Long: "Reads an assistant of Vapi, as GET /assistant/ID answers, with files of the tools that it names; or an agent of Retell, as GET /get-agent/ID\n" +
			"answers, with its language model, as GET /get-retell-llm/ID does. Writes the file of an agent, which push takes. What has no equivalent, or is\n" +
			"only nearly the same, is listed on standard error, a line each. No server is asked.",
		Example: "  parley agent import --from vapi assistant.json >lola.yaml\n  parley agent import --from retell agent.json llm.json --out lola.yaml\n  parley agent push lola.yaml",
		Args:    cobra.MinimumNArgs(1)}
	from := cmd.Flags().String("from", "", "where it comes from: "+strings.Join(foreign.Services(), " or "))
	out := cmd.Flags().StringP("out", "o", "", "file for the agent; without it, and with -, standard output")
	_ = cmd.MarkFlagRequired("from") // it exists
	command.Complete(cmd, map[string][]string{"from": foreign.Services()})
	return command.Runs(cmd, "print the agent and what has no equivalent as one JSON object", func(j *command.Job, args []string) error {
		if !slices.Contains(foreign.Services(), *from) {
			return command.UsageError("--from is one of " + strings.Join(foreign.Services(), ", "))
		}
		documents := make([]foreign.Document, len(args))
		for i, path := range args {
			text, err := server.ReadText(j.Command, path)
			if err != nil {
				return err
			}
			documents[i] = foreign.Document{Name: path, Text: []byte(text)}
		}
		a, err := foreign.Read(*from, documents)
		if err != nil {
			return command.UsageError(err.Error())
		}
		return imported((&server.Request{Job: j}), a, *out)
	})
}

// imported answers with an agent that was made of what another service has exported.
func imported(q *server.Request, a *foreign.Agent, path string) error {
	text, err := a.File()
	if err != nil {
		return err
	}
	if !q.JSON {
		for _, n := range a.Notes {
			fmt.Fprintln(q.ErrOrStderr(), n)
		}
	}
	if path != "" && path != "-" {
		if err := q.WriteText(path, text); err != nil {
			return err
		}
		if !q.JSON {
			return nil
		}
	}
	document, err := wire.FromYAML(text)
	if err != nil {
		return err
	}
	return q.AnswerText(struct {
		Agent json.RawMessage `json:"agent"`
		Notes []foreign.Note  `json:"notes"`
	}{document, append([]foreign.Note{}, a.Notes...)}, text)
}
