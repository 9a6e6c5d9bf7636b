package agents

import (
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
	"parley/cmd/parley/remote/server"
)

func newAgentCommand() *cobra.Command {
	return command.Group("agent", "Agents of the account, also as files: list, show, new, pull, diff, push, compare, import, versions, restore, delete",
		"An agent answers calls: its prompt, voice, language, first message, functions and settings. A file of it lives in git: pull writes it,\n"+
			"diff says what it would change, push makes the agent what it says. Agents of any account of a server: parley admin agent.",
		"  parley agent pull ag_… lola.yaml\n  parley agent diff lola.yaml\n  parley agent push lola.yaml",
		newAgentList(), newAgentShow(), newAgentNew(), newAgentPull(), newAgentPush(), newAgentDiff(), newAgentCompare(), newAgentImport(), newAgentVersions(), newAgentRestore(), newAgentDelete(), newAgentSchema())
}

func newAgentList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the agents", Long: "Lists the account's agents, the newest first, with voice, language and version: all, or those that have the metadata.",
		Example: "  parley agent list\n  parley agent list --metadata team=sales --json | jq -r '.data[].id'", Args: cobra.NoArgs}
	wanted := cmd.Flags().StringArray("metadata", nil, "only those with this metadata, as team=sales; may be repeated")
	return server.Ask(cmd, command.OneObject, func(q *server.Request, _ []string) error {
		metadata, err := command.Pairs("metadata", *wanted)
		if err != nil {
			return err
		}
		list, more, err := q.AgentList(q.Ctx, metadata, server.MostListed)
		if err != nil {
			return err
		}
		return server.Listed(q, list, more, "agent", func(w io.Writer, a *wire.AgentDefinition) {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\tversion %d\t%s\n", a.ID, a.Name, a.Voice, a.Language, a.Version, command.Stamp(&a.UpdatedAt))
		})
	})
}

func newAgentShow() *cobra.Command {
	return server.AgentArgs(server.Ask(&cobra.Command{Use: "show AGENT_ID", Short: "Show an agent", Long: "Shows an agent with its prompt, functions and settings. parley agent pull writes it as a file.",
		Example: "  parley agent show ag_…\n  parley agent show ag_… --json | jq .settings", Args: cobra.ExactArgs(1)}, command.OneObject, func(q *server.Request, args []string) error {
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
	return server.AgentArgs(server.Ask(&cobra.Command{Use: "versions AGENT_ID", Short: "List what an agent was, the newest first", Long: "Lists the versions of an agent: each change leaves one.",
		Example: "  parley agent versions ag_…", Args: cobra.ExactArgs(1)}, command.OneObject, func(q *server.Request, args []string) error {
		list, more, err := q.AgentVersions(q.Ctx, args[0], server.MostListed)
		if err != nil {
			return err
		}
		return server.Listed(q, list, more, "version", func(w io.Writer, a *wire.AgentDefinition) {
			fmt.Fprintf(w, "%d\t%s\t%s\n", a.Version, command.Stamp(&a.UpdatedAt), a.Name)
		})
	}))
}

func newAgentRestore() *cobra.Command {
	return server.AgentArgs(server.Ask(&cobra.Command{Use: "restore AGENT_ID VERSION", Short: "Make an agent what it was", Long: "Makes an agent what it was in a version. That is a change like any other, with a version of its own.",
		Example: "  parley agent restore ag_… 3", Args: cobra.ExactArgs(2)}, command.OneObject, func(q *server.Request, args []string) error {
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
	return server.AgentArgs(server.Ask(&cobra.Command{Use: "delete AGENT_ID", Short: "Delete an agent; its numbers are answered by nobody",
		Long:    "Deletes an agent. Its numbers stay with the account and are answered by nobody until they get another agent.",
		Example: "  parley agent delete ag_…", Args: cobra.ExactArgs(1)}, command.OneObject, func(q *server.Request, args []string) error {
		return q.Did("id", args[0], "deleted", q.DeleteAgent(q.Ctx, args[0]))
	}))
}

func newAgentSchema() *cobra.Command {
	return server.Ask(&cobra.Command{Use: "schema", Short: "Print the JSON Schema of agents", Args: cobra.NoArgs,
		Long:    "Prints the JSON Schema (2020-12) of agents of the server, which editors check files by as they are written.",
		Example: "  parley agent schema >agent.schema.json"}, command.OneObject, func(q *server.Request, _ []string) error {
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
