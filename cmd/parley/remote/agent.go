package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"parley/api/wire"
	"parley/cmd/parley/command"
)

// mostListed is how many entries of a list are printed at most.
const mostListed = 1000

func newAgentCommand() *cobra.Command {
	return command.Group("agent", "Agents of the account, also as files: list, show, new, pull, diff, push, compare, import, versions, restore, delete",
		"An agent answers calls: its prompt, voice, language, first message, functions and settings. A file of it lives in git: pull writes it,\n"+
			"diff says what it would change, push makes the agent what it says. Agents of any account of a server: parley admin agent.",
		"  parley agent pull ag_… lola.yaml\n  parley agent diff lola.yaml\n  parley agent push lola.yaml",
		newAgentList(), newAgentShow(), newAgentNew(), newAgentPull(), newAgentPush(), newAgentDiff(), newAgentCompare(), newAgentImport(), newAgentVersions(), newAgentRestore(), newAgentDelete(), newAgentSchema())
}

// agentArgs has the first argument of a command completed with the account's agents.
func agentArgs(cmd *cobra.Command) *cobra.Command {
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveDefault // a file, perhaps
		}
		return agentIDs(cmd), cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

// total says how many there are of a thing, or how many of them follow.
func total(w io.Writer, n int, thing string, more bool) {
	first := ""
	if more {
		first = "the first "
	}
	fmt.Fprintf(w, "%s%d %s\n", first, n, plural(thing, int64(n)))
}

// listed answers with a list: its total before its entries.
func listed[T any](q *request, list []T, more bool, thing string, line func(io.Writer, *T)) error {
	return q.Answer(map[string]any{"data": list, "has_more": more}, func(w io.Writer) {
		total(w, len(list), thing, more)
		for i := range list {
			line(w, &list[i])
		}
	})
}

func newAgentList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the agents", Long: "Lists the account's agents, the newest first, with voice, language and version: all, or those that have the metadata.",
		Example: "  parley agent list\n  parley agent list --metadata team=sales --json | jq -r '.data[].id'", Args: cobra.NoArgs}
	wanted := cmd.Flags().StringArray("metadata", nil, "only those with this metadata, as team=sales; may be repeated")
	return ask(cmd, command.OneObject, func(q *request, _ []string) error {
		metadata, err := command.Pairs("metadata", *wanted)
		if err != nil {
			return err
		}
		list, more, err := q.AgentList(q.Ctx, metadata, mostListed)
		if err != nil {
			return err
		}
		return listed(q, list, more, "agent", func(w io.Writer, a *wire.AgentDefinition) {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\tversion %d\t%s\n", a.ID, a.Name, a.Voice, a.Language, a.Version, command.Stamp(&a.UpdatedAt))
		})
	})
}

func newAgentShow() *cobra.Command {
	return agentArgs(ask(&cobra.Command{Use: "show AGENT_ID", Short: "Show an agent", Long: "Shows an agent with its prompt, functions and settings. parley agent pull writes it as a file.",
		Example: "  parley agent show ag_…\n  parley agent show ag_… --json | jq .settings", Args: cobra.ExactArgs(1)}, command.OneObject, func(q *request, args []string) error {
		a, err := q.Agent(q.Ctx, args[0])
		if err != nil {
			return err
		}
		return q.Answer(a, func(w io.Writer) { showAgent(w, a) })
	}))
}

func showAgent(w io.Writer, a *wire.AgentDefinition) {
	fmt.Fprintf(w, "agent\t%s\nname\t%s\nversion\t%d, of %s\nvoice\t%s\nlanguage\t%s\nfirst message\t%s\n", a.ID, a.Name, a.Version, command.Stamp(&a.UpdatedAt),
		a.Voice, a.Language, command.OrNone(&a.FirstMessage))
	for _, name := range slices.Sorted(maps.Keys(a.Metadata)) {
		fmt.Fprintf(w, "metadata\t%s=%s\n", name, a.Metadata[name])
	}
	fmt.Fprintf(w, "tools\t%s\nsettings\t%s\nprompt\t%s\n", a.Tools.RawMessage, a.Settings.RawMessage, strings.ReplaceAll(a.Prompt, "\n", "\n\t"))
}

func newAgentVersions() *cobra.Command {
	return agentArgs(ask(&cobra.Command{Use: "versions AGENT_ID", Short: "List what an agent was, the newest first", Long: "Lists the versions of an agent: each change leaves one.",
		Example: "  parley agent versions ag_…", Args: cobra.ExactArgs(1)}, command.OneObject, func(q *request, args []string) error {
		list, more, err := q.AgentVersions(q.Ctx, args[0], mostListed)
		if err != nil {
			return err
		}
		return listed(q, list, more, "version", func(w io.Writer, a *wire.AgentDefinition) {
			fmt.Fprintf(w, "%d\t%s\t%s\n", a.Version, command.Stamp(&a.UpdatedAt), a.Name)
		})
	}))
}

func newAgentRestore() *cobra.Command {
	return agentArgs(ask(&cobra.Command{Use: "restore AGENT_ID VERSION", Short: "Make an agent what it was", Long: "Makes an agent what it was in a version. That is a change like any other, with a version of its own.",
		Example: "  parley agent restore ag_… 3", Args: cobra.ExactArgs(2)}, command.OneObject, func(q *request, args []string) error {
		version, err := strconv.ParseInt(args[1], 10, 64)
		if err != nil || version < 1 {
			return command.UsageError(args[1] + " is no version")
		}
		was, err := q.AgentVersion(q.Ctx, args[0], version)
		if err != nil {
			return err
		}
		document, err := json.Marshal(was)
		if err != nil {
			return err
		}
		a, err := q.ReplaceAgent(q.Ctx, args[0], 0, document)
		if err != nil {
			return err
		}
		return q.AnswerText(a, fmt.Sprintf("restored\t%s\tversion %d\n", a.ID, a.Version))
	}))
}

func newAgentDelete() *cobra.Command {
	return agentArgs(ask(&cobra.Command{Use: "delete AGENT_ID", Short: "Delete an agent; its numbers are answered by nobody",
		Long:    "Deletes an agent. Its numbers stay with the account and are answered by nobody until they get another agent.",
		Example: "  parley agent delete ag_…", Args: cobra.ExactArgs(1)}, command.OneObject, func(q *request, args []string) error {
		return q.did("id", args[0], "deleted", q.DeleteAgent(q.Ctx, args[0]))
	}))
}

// did answers with what has happened to a thing, such as "deleted" to an identifier, unless err says that it has not.
func (q *request) did(key, thing, what string, err error) error {
	if err != nil {
		return err
	}
	return q.AnswerText(map[string]any{key: thing, what: true}, what+"\t"+thing+"\n")
}

func newAgentSchema() *cobra.Command {
	return ask(&cobra.Command{Use: "schema", Short: "Print the JSON Schema of agents", Args: cobra.NoArgs,
		Long:    "Prints the JSON Schema (2020-12) of agents of the server, which editors check files by as they are written.",
		Example: "  parley agent schema >agent.schema.json"}, command.OneObject, func(q *request, _ []string) error {
		schema, err := q.AgentSchema(q.Ctx)
		if err != nil {
			return err
		}
		text, err := json.MarshalIndent(schema, "", "  ")
		if err != nil {
			return err
		}
		return q.AnswerText(schema, string(text)+"\n")
	})
}

// agentIDs are the account's agents, for completion. Whatever goes wrong, there is nothing to complete: a shell's
// prompt is no place for errors.
func agentIDs(cmd *cobra.Command) (ids []string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(cmd.Context()), agentPatience)
	defer cancel()
	r := &remote{url: cmd.Flag("url").Value.String(), key: cmd.Flag("key").Value.String(), profile: cmd.Flag("profile").Value.String()}
	c, err := r.client()
	if err != nil {
		return nil
	}
	list, _ := c.Agents(ctx)
	for _, a := range list {
		ids = append(ids, a.ID+"\t"+a.Name)
	}
	return ids
}
