package agents

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"parley/api/starter"
	"parley/cmd/parley/command"
	"parley/cmd/parley/remote/server"
)

func newAgentNew() *cobra.Command {
	var about strings.Builder
	for _, t := range starter.Templates() {
		fmt.Fprintf(&about, "\n  %-13s %s", t.Name, t.Summary)
	}
	cmd := &cobra.Command{Use: "new", Short: "Make an agent's file of a template",
		Long: "Writes the file of an agent for a common task, which push takes once names, hours and addresses in it are yours. No server is asked. The templates:\n" +
			about.String(),
		Example: "  parley agent new --template receptionist >lola.yaml\n  parley agent new --template order-status --out orders.yaml\n  parley agent push orders.yaml", Args: cobra.NoArgs}
	name := cmd.Flags().String("template", "", "which template: "+strings.Join(starter.Names(), ", "))
	out := cmd.Flags().StringP("out", "o", "", "file for the agent; without it, and with -, standard output")
	_ = cmd.MarkFlagRequired("template") // it exists
	command.Complete(cmd, map[string][]string{"template": starter.Names()})
	return command.Runs(cmd, "print the agent as one JSON object", func(j *command.Job, _ []string) error {
		t, ok := starter.Named(*name)
		if !ok {
			return command.UsageError("--template is one of " + strings.Join(starter.Names(), ", "))
		}
		q := &server.Request{Job: j}
		if *out != "" && *out != "-" {
			if err := q.WriteText(*out, t.Text); err != nil || !q.JSON {
				return err
			}
		}
		document, err := t.Document()
		if err != nil {
			return err
		}
		return q.AnswerText(document, t.Text)
	})
}
