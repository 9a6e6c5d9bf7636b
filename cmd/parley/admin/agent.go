package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"parley/api/manage"
	"parley/api/tts"
	"parley/api/wire"
	"parley/cmd/parley/command"
	"parley/cmd/parley/config"
	"parley/cmd/parley/conversation"
	"parley/cmd/parley/engine"
	"parley/cmd/parley/local"
	"parley/pipeline/agent"
	"parley/store"
)

func newAgentCommand() *cobra.Command {
	return command.Group("agent", "Agents: create, list, show, update, delete, export, versions, restore, schema",
		"An agent answers calls: its prompt, voice, language, first message and tools. Numbers are bound to agents.",
		"  parley admin agent list --account acc_…",
		newAgentCreate(), newAgentList(), newAgentShow(), newAgentUpdate(), newAgentDelete(),
		newAgentExport(), newAgentVersions(), newAgentRestore(), newAgentSchema())
}

// agentView is an agent as commands print it.
type agentView struct{ wire.AgentDefinition }

func viewAgent(a *store.Agent) agentView { return agentView{manage.Define(a)} }

func (v agentView) show(w io.Writer) {
	fmt.Fprintf(w, "agent\t%s\nname\t%s\nvoice\t%s\nlanguage\t%s\nfirst message\t%s\nprompt\t%s\nsettings\t%s\nversion\t%d\n",
		v.ID, v.Name, v.Voice, v.Language, v.FirstMessage, v.Prompt, v.Settings.RawMessage, v.Version)
	for _, name := range slices.Sorted(maps.Keys(v.Metadata)) {
		fmt.Fprintf(w, "metadata\t%s=%s\n", name, v.Metadata[name])
	}
}

// agentTexts are the flags that say a text of an agent, over what a file says.
var agentTexts = []string{"name", "voice", "language", "prompt", "first-message"}

// agentFlags adds the ways to say what an agent is: a file, and flags over it.
func agentFlags(cmd *cobra.Command) {
	cmd.Flags().String("file", "", "YAML file: name, voice, language, prompt, first_message, tools, settings, metadata; agent schema describes it")
	cmd.Flags().String("name", "", "its name")
	cmd.Flags().String("voice", "F1", "F1 to F5, M1 to M5")
	cmd.Flags().String("language", "en", "en es ca gl eu pt fr it de; offline only en is heard")
	cmd.Flags().String("prompt", "", "what it knows and how it behaves")
	cmd.Flags().String("first-message", "", "what it says first; empty: it waits for the caller")
	command.Complete(cmd, map[string][]string{"voice": wire.Voices, "language": wire.Languages})
}

// metadataFlag adds the flag for what is kept with a stored agent.
func metadataFlag(cmd *cobra.Command) {
	cmd.Flags().StringArray("metadata", nil, "what to keep with it, as team=sales; team= takes it away; may be repeated")
}

// applyFlags changes a by the file and by the flags that were given, or says all that is
// wrong.
func applyFlags(cmd *cobra.Command, a *store.Agent) error {
	document := map[string]any{}
	file := cmd.Flag("file").Value.String()
	if file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		d := yaml.NewDecoder(bytes.NewReader(text))
		if err := d.Decode(&document); err != nil && !errors.Is(err, io.EOF) { // it may be empty
			return fmt.Errorf("%w: %s: %w", store.ErrInvalid, file, err)
		}
		if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
			return fmt.Errorf("%w: %s: there is more than one document", store.ErrInvalid, file)
		}
	}
	for _, name := range agentTexts {
		if flag := cmd.Flag(name); flag.Changed {
			document[strings.ReplaceAll(name, "-", "_")] = flag.Value.String()
		}
	}
	if err := addMetadata(cmd, document); err != nil {
		return err
	}
	text, err := json.Marshal(document)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", store.ErrInvalid, file, err)
	}
	cfg, _, err := local.Config(cmd)
	if err != nil {
		return err
	}
	names, err := agentNames(cfg)
	if err != nil {
		return err
	}
	if err := conversation.ApplyDocument(names, a, text, true); err != nil {
		return fmt.Errorf("%w: %w", store.ErrInvalid, err)
	}
	return nil
}

// addMetadata adds the metadata of the flags to those of a document.
func addMetadata(cmd *cobra.Command, document map[string]any) error {
	flag, _ := cmd.Flags().GetStringArray("metadata") // not every command has it
	given, err := command.Pairs("metadata", flag)
	if err != nil || given == nil {
		return err
	}
	metadata := map[string]any{}
	if of, is := document["metadata"].(map[string]any); is {
		metadata = of
	}
	for name, value := range given {
		if metadata[name] = value; value == "" {
			metadata[name] = nil
		}
	}
	document["metadata"] = metadata
	return nil
}

// agentNames know the engines of the program and those that the settings name: which of them the
// server offers, its own settings say, and these may be another's.
func agentNames(cfg *config.Config) (agent.Names, error) {
	set, err := engine.New(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		return agent.Names{}, err
	}
	return agent.Names{Voice: tts.Voice, Language: tts.Language, Engines: anyServer{set}}, nil
}

// anyServer offers the engines of the settings and those of the program.
type anyServer struct{ *engine.Set }

// Names implements agent.Offer.
func (s anyServer) Names(stage agent.Stage) []string {
	return slices.Concat(s.Set.Names(stage), config.Built(string(stage)))
}

// Check implements agent.Offer; of what the settings do not have nothing is known.
func (s anyServer) Check(stage agent.Stage, wanted agent.Engine) (member, problem string) {
	if !slices.Contains(s.Set.Names(stage), wanted.Name) {
		return "", ""
	}
	return s.Set.Check(stage, wanted)
}

// agentCommand makes cmd an administration command on one agent, the first argument. Its identifier
// names its account already: --account may be left out, and given it must be right.
func agentCommand(cmd *cobra.Command, run func(a *admin, account string, agent *store.Agent, args []string) error) *cobra.Command {
	account := cmd.Flags().String("account", "", "the account that has the agent; found by the agent unless given")
	return adminCommand(cmd, func(a *admin, args []string) error {
		owner, err := a.db.AgentOwner(a.Ctx, args[0])
		if err == nil && *account != "" && *account != owner {
			err = store.ErrNotFound
		}
		if err != nil {
			return err
		}
		agent, err := a.db.Agent(a.Ctx, owner, args[0])
		if err != nil {
			return err
		}
		return run(a, owner, agent, args)
	})
}

func newAgentCreate() *cobra.Command {
	cmd := &cobra.Command{Use: "create --account ID --name NAME", Short: "Create an agent",
		Long: "Creates an agent from flags, from a YAML file, or from a file with flags that override it.",
		Example: "  parley admin agent create --account acc_… --name Lola --prompt 'We are open from nine to six.' --first-message 'Casa Lola, hello!'\n" +
			"  parley admin agent create --account acc_… --file agent.yaml", Args: cobra.NoArgs}
	agentFlags(cmd)
	metadataFlag(cmd)
	return accountCommand(cmd, func(a *admin, account string, _ []string) error {
		wanted := conversation.NewAgent()
		if err := applyFlags(cmd, &wanted); err != nil {
			return err
		}
		return shown(a, viewAgent)(a.db.CreateAgent(a.Ctx, account, wanted))
	})
}

func newAgentUpdate() *cobra.Command {
	cmd := &cobra.Command{Use: "update AGENT_ID", Short: "Change an agent; what is not mentioned stays",
		Long:    "Changes an agent by flags, a YAML file or both; what is not mentioned stays. Calls in progress keep what they began with.",
		Example: "  parley admin agent update ag_… --voice M2\n  parley admin agent update ag_… --metadata team=sales", Args: cobra.ExactArgs(1)}
	agentFlags(cmd)
	metadataFlag(cmd)
	return agentCommand(cmd, func(a *admin, account string, agent *store.Agent, _ []string) error {
		if err := applyFlags(cmd, agent); err != nil {
			return err
		}
		return shown(a, viewAgent)(a.db.UpdateAgent(a.Ctx, account, *agent))
	})
}

func newAgentShow() *cobra.Command {
	return agentCommand(&cobra.Command{Use: "show AGENT_ID", Short: "Show an agent",
		Long: "Shows an agent with its prompt and settings.", Example: "  parley admin agent show ag_… --json", Args: cobra.ExactArgs(1)},
		func(a *admin, _ string, agent *store.Agent, _ []string) error { return a.show(viewAgent(agent)) })
}

func newAgentList() *cobra.Command {
	cmd := &cobra.Command{Use: "list --account ID", Short: "List an account's agents",
		Long: "Lists an account's agents with voice and language: all, or those that have the metadata.", Args: cobra.NoArgs,
		Example: "  parley admin agent list --account acc_…\n  parley admin agent list --account acc_… --metadata team=sales"}
	wanted := cmd.Flags().StringArray("metadata", nil, "only those with this metadata, as team=sales; may be repeated")
	return accountCommand(cmd, func(a *admin, account string, _ []string) error {
		metadata, err := command.Pairs("metadata", *wanted)
		if err != nil {
			return err
		}
		find := func(ctx context.Context, account string, p store.Page) ([]store.Agent, error) {
			return a.db.AgentsWith(ctx, account, metadata, p)
		}
		return listOf(a, account, "agents", find, viewAgent, func(v agentView, w io.Writer) {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", v.ID, v.Name, v.Voice, v.Language)
		})
	})
}

func newAgentDelete() *cobra.Command {
	return agentCommand(&cobra.Command{Use: "delete AGENT_ID", Short: "Delete an agent; its numbers are answered by nobody",
		Long:    "Deletes an agent. Its numbers stay with the account and are answered by nobody until they get another agent.",
		Example: "  parley admin agent delete ag_…", Args: cobra.ExactArgs(1)},
		func(a *admin, account string, agent *store.Agent, _ []string) error {
			return a.did("id", agent.ID, "deleted", a.db.DeleteAgent(a.Ctx, account, agent.ID, 0))
		})
}

func newAgentSchema() *cobra.Command {
	return &cobra.Command{Use: "schema", Short: "Print the JSON Schema of agents", Args: cobra.NoArgs,
		Long:    "Prints the JSON Schema (2020-12) of agents, which editors check files by as they are written. The API takes and gives the same.",
		Example: "  parley admin agent schema >agent.schema.json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := json.MarshalIndent(engine.AgentSchema(), "", "  ")
			if err == nil {
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", text)
			}
			return err
		}}
}

func newAgentExport() *cobra.Command {
	cmd := &cobra.Command{Use: "export AGENT_ID", Short: "Print an agent as a YAML file", Args: cobra.ExactArgs(1),
		Long:    "Prints an agent, or one of its versions, as a file that create and update take. Its metadata are not in it.",
		Example: "  parley admin agent export ag_… >agent.yaml"}
	version := cmd.Flags().Int64("version", 0, "which version; 0: as it is")
	return agentCommand(cmd, func(a *admin, account string, agent *store.Agent, _ []string) (err error) {
		if *version != 0 {
			if agent, err = a.db.AgentVersion(a.Ctx, account, agent.ID, *version); err != nil {
				return err
			}
		}
		written := conversation.DocumentOf(agent)
		document, err := written.Members()
		if err != nil {
			return err
		}
		return a.Answer(document, func(w io.Writer) {
			e := yaml.NewEncoder(w)
			e.SetIndent(2)
			_ = e.Encode(document) // there is nowhere to report a failed output
		})
	})
}

func newAgentVersions() *cobra.Command {
	return agentCommand(&cobra.Command{Use: "versions AGENT_ID", Short: "List an agent's versions, the newest first", Args: cobra.ExactArgs(1),
		Long: "Lists what an agent was: each change leaves a version.", Example: "  parley admin agent versions ag_…"},
		func(a *admin, account string, agent *store.Agent, _ []string) error {
			line := func(v agentView, w io.Writer) {
				fmt.Fprintf(w, "%d\t%s\t%s\n", v.Version, v.UpdatedAt.Format(time.DateTime), v.Name)
			}
			return listed(a, "versions", viewAgent, line)(a.db.AgentVersions(a.Ctx, account, agent.ID, 0, 0))
		})
}

func newAgentRestore() *cobra.Command {
	cmd := &cobra.Command{Use: "restore AGENT_ID VERSION", Short: "Make an agent what it was", Args: cobra.ExactArgs(2),
		Long:    "Makes an agent what it was in a version. That is a change like any other, with a version of its own.",
		Example: "  parley admin agent restore ag_… 3"}
	return agentCommand(cmd, func(a *admin, account string, agent *store.Agent, args []string) error {
		version, err := strconv.ParseInt(args[1], 10, 64)
		if err != nil || version < 1 {
			return fmt.Errorf("%w: %q is no version", store.ErrInvalid, args[1])
		}
		was, err := a.db.AgentVersion(a.Ctx, account, agent.ID, version)
		if err != nil {
			return err
		}
		was.Version = agent.Version
		return shown(a, viewAgent)(a.db.UpdateAgent(a.Ctx, account, *was))
	})
}
