package agents

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"parley/api/wire"
	"parley/cmd/parley/command"
	"parley/cmd/parley/remote/server"
)

func newCaseCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "case", Short: "Keep test cases of an agent",
		Long: "Test cases are scripts of simulated callers, kept with an agent; parley test runs them and parley simulate --schema\n" +
			"describes them. A case is named by its name or its identifier.",
		Example: "  parley case put ag_… hours.yaml\n  parley case list ag_…\n  parley test ag_…"}
	cmd.AddCommand(newCaseList(), newCaseShow(), newCasePut(), newCaseDelete())
	return cmd
}

func newCaseList() *cobra.Command {
	return server.Ask(&cobra.Command{Use: "list AGENT_ID", Short: "List the test cases of an agent",
		Long:    "Prints the identifier, the time of the last change and the name of each test case of an agent, the newest first.",
		Example: "  parley case list ag_…", Args: cobra.ExactArgs(1)},
		command.OneObject, func(q *server.Request, args []string) error {
			list, err := q.Cases(q.Ctx, args[0])
			if err != nil {
				return err
			}
			return q.Answer(map[string]any{"data": list}, func(w io.Writer) {
				for i := range list {
					fmt.Fprintf(w, "%s\t%s\t%s\n", list[i].ID, command.Stamp(&list[i].UpdatedAt), list[i].Name)
				}
			})
		})
}

func newCaseShow() *cobra.Command {
	return server.Ask(&cobra.Command{Use: "show AGENT_ID CASE", Short: "Print the script of a test case",
		Long:    "Prints the script of a test case as YAML, which parley case put takes.",
		Example: "  parley case show ag_… \"Opening hours\" >hours.yaml", Args: cobra.ExactArgs(2)},
		command.OneObject, func(q *server.Request, args []string) error {
			c, err := namedCase(q, args[0], args[1])
			if err != nil {
				return err
			}
			text, err := wire.YAML(c.Script.RawMessage)
			if err != nil {
				return err
			}
			return q.AnswerText(c, text)
		})
}

func newCasePut() *cobra.Command {
	cmd := &cobra.Command{Use: "put AGENT_ID FILE", Short: "Add a test case to an agent, or replace the one of its name",
		Long: "Sends a script, YAML or JSON, - for standard input, as a test case of an agent. Its name is --name, else the name in the\n" +
			"script, else that of the file. A case of this name is replaced.",
		Example: "  parley case put ag_… hours.yaml\n  parley case put ag_… - --name \"Opening hours\" <hours.yaml", Args: cobra.ExactArgs(2)}
	name := cmd.Flags().String("name", "", "what it is called")
	return server.Ask(cmd, command.OneObject, func(q *server.Request, args []string) error {
		text, err := server.ReadText(q.Command, args[1])
		if err != nil {
			return err
		}
		script, err := wire.FromYAML(text)
		if err != nil {
			return command.UsageError(args[1] + ": " + err.Error())
		}
		var within struct{ Name string }
		if err := json.Unmarshal(script, &within); err != nil || string(script) == "null" {
			return command.UsageError(args[1] + ": this is no script, which has a caller and what is expected")
		}
		called := cmp.Or(*name, within.Name, strings.TrimSuffix(filepath.Base(args[1]), filepath.Ext(args[1])))
		list, err := q.Cases(q.Ctx, args[0])
		if err != nil {
			return err
		}
		id := ""
		for _, c := range list {
			if c.Name == called {
				id = c.ID
			}
		}
		c, err := q.PutCase(q.Ctx, args[0], id, called, script)
		if err != nil {
			return err
		}
		return q.Done(c, "%s\t%s\n", c.ID, c.Name)
	})
}

func newCaseDelete() *cobra.Command {
	return server.Ask(&cobra.Command{Use: "delete AGENT_ID CASE", Short: "Delete a test case of an agent",
		Long:    "Deletes a test case. What simulations of it have found stays.",
		Example: "  parley case delete ag_… \"Opening hours\"", Args: cobra.ExactArgs(2)},
		command.OneObject, func(q *server.Request, args []string) error {
			c, err := namedCase(q, args[0], args[1])
			if err != nil {
				return err
			}
			if err := q.DeleteCase(q.Ctx, args[0], c.ID); err != nil {
				return err
			}
			return q.Done(map[string]any{"id": c.ID, "deleted": true}, "%s is deleted\n", c.Name)
		})
}

// namedCase finds a case of an agent by its name or identifier.
func namedCase(q *server.Request, agent, name string) (*wire.Case, error) {
	list, err := q.Cases(q.Ctx, agent)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if list[i].ID == name || list[i].Name == name {
			return &list[i], nil
		}
	}
	return nil, command.UsageError(fmt.Sprintf("the agent has no test case %q", name))
}
