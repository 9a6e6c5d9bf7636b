package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"parley/api/wsagent"
	"parley/pipeline"
	"parley/store"
)

func newAgentCommand() *cobra.Command {
	return group("agent", "Agents: create, list, show, update, delete",
		newAgentCreate(), newAgentList(), newAgentShow(), newAgentUpdate(), newAgentDelete())
}

// agentView is an agent as commands print it.
type agentView struct {
	ID           string          `json:"id"`
	Name         string          `json:"name"`
	Voice        string          `json:"voice"`
	Language     string          `json:"language"`
	Prompt       string          `json:"prompt"`
	FirstMessage string          `json:"first_message"`
	Tools        json.RawMessage `json:"tools"`
	Settings     json.RawMessage `json:"settings"`
	Version      int64           `json:"version"`
	UpdatedAt    time.Time       `json:"updated_at"`
}

func viewAgent(a *store.Agent) agentView {
	return agentView{a.ID, a.Name, a.Voice, a.Language, a.Prompt, a.FirstMessage, a.Tools, a.Settings, a.Version, a.UpdatedAt}
}

func (v agentView) show(w io.Writer) {
	fmt.Fprintf(w, "agent\t%s\nname\t%s\nvoice\t%s\nlanguage\t%s\nfirst message\t%s\nprompt\t%s\nsettings\t%s\nversion\t%d\n",
		v.ID, v.Name, v.Voice, v.Language, v.FirstMessage, v.Prompt, v.Settings, v.Version)
}

// agentFile is an agent as a YAML file describes it; what is left out keeps its
// value.
type agentFile struct {
	Name         *string `yaml:"name"`
	Voice        *string `yaml:"voice"`
	Language     *string `yaml:"language"`
	Prompt       *string `yaml:"prompt"`
	FirstMessage *string `yaml:"first_message"`
	Tools        any     `yaml:"tools"`
	Settings     any     `yaml:"settings"`
}

// agentFlags are the ways to say what an agent is: a file, and flags over it.
type agentFlags struct {
	file                                        string
	name, voice, language, prompt, firstMessage string
}

func (f *agentFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.file, "file", "", "YAML file: name, voice, language, prompt, first_message, tools, settings")
	cmd.Flags().StringVar(&f.name, "name", "", "its name")
	cmd.Flags().StringVar(&f.voice, "voice", "F1", "F1 to F5, M1 to M5")
	cmd.Flags().StringVar(&f.language, "language", "en", "en es ca gl eu pt fr it de; offline only en is heard")
	cmd.Flags().StringVar(&f.prompt, "prompt", "", "what it knows and how it behaves")
	cmd.Flags().StringVar(&f.firstMessage, "first-message", "", "what it says first; empty: it waits for the caller")
}

// apply changes a by the file and by the flags that were given.
func (f *agentFlags) apply(cmd *cobra.Command, a *store.Agent) error {
	var file agentFile
	if f.file != "" {
		if err := readAgentFile(f.file, &file); err != nil {
			return err
		}
	}
	for _, s := range []struct {
		to   *string
		file *string
		flag string
		text string
	}{
		{&a.Name, file.Name, "name", f.name}, {&a.Voice, file.Voice, "voice", f.voice}, {&a.Language, file.Language, "language", f.language},
		{&a.Prompt, file.Prompt, "prompt", f.prompt}, {&a.FirstMessage, file.FirstMessage, "first-message", f.firstMessage},
	} {
		switch {
		case cmd.Flags().Changed(s.flag):
			*s.to = s.text
		case s.file != nil:
			*s.to = *s.file
		}
	}
	for _, j := range []struct {
		to   *json.RawMessage
		from any
	}{{&a.Tools, file.Tools}, {&a.Settings, file.Settings}} {
		if j.from == nil {
			continue
		}
		text, err := json.Marshal(j.from)
		if err != nil {
			return fmt.Errorf("%w: %s: %w", store.ErrInvalid, f.file, err)
		}
		*j.to = text
	}
	return checkAgent(a)
}

func readAgentFile(path string, into *agentFile) error {
	text, err := os.Open(path)
	if err != nil {
		return err
	}
	defer text.Close()
	d := yaml.NewDecoder(text)
	d.KnownFields(true)
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("%w: %s: %w", store.ErrInvalid, path, err)
	}
	return nil
}

// checkAgent refuses what a conversation could not use.
func checkAgent(a *store.Agent) error {
	voice, language := wsagent.Voice(a.Voice), wsagent.Language(a.Language)
	switch {
	case voice == "":
		return fmt.Errorf("%w: voice %q; the ten are F1 to F5 and M1 to M5", store.ErrInvalid, a.Voice)
	case language == "":
		return fmt.Errorf("%w: language %q; the nine are en es ca gl eu pt fr it de", store.ErrInvalid, a.Language)
	}
	a.Voice, a.Language = voice, language
	if _, err := pipeline.ParseSettings(a.Settings); err != nil {
		return fmt.Errorf("%w: %w", store.ErrInvalid, err)
	}
	return nil
}

func newAgentCreate() *cobra.Command {
	var f agentFlags
	cmd := &cobra.Command{Use: "create --account ID --name NAME", Short: "Create an agent",
		Example: "  parley agent create --account acc_… --name Lola --prompt 'We are open from nine to six.' --first-message 'Casa Lola, hello!'\n" +
			"  parley agent create --account acc_… --file agent.yaml", Args: cobra.NoArgs}
	account := accountFlag(cmd)
	adminCommand(cmd, func(a *admin, _ []string) error {
		agent := store.Agent{Voice: f.voice, Language: f.language}
		if err := f.apply(cmd, &agent); err != nil {
			return err
		}
		created, err := a.db.CreateAgent(a.ctx, *account, agent, a.now)
		if err != nil {
			return err
		}
		v := viewAgent(created)
		return a.print(v, v.show)
	})
	f.add(cmd)
	return cmd
}

func newAgentUpdate() *cobra.Command {
	var f agentFlags
	cmd := &cobra.Command{Use: "update --account ID AGENT_ID", Short: "Change an agent; what is not mentioned stays",
		Example: "  parley agent update --account acc_… ag_… --voice M2", Args: cobra.ExactArgs(1)}
	account := accountFlag(cmd)
	adminCommand(cmd, func(a *admin, args []string) error {
		agent, err := a.db.Agent(a.ctx, *account, args[0])
		if err != nil {
			return err
		}
		if err := f.apply(cmd, agent); err != nil {
			return err
		}
		if agent, err = a.db.UpdateAgent(a.ctx, *account, *agent, a.now); err != nil {
			return err
		}
		v := viewAgent(agent)
		return a.print(v, v.show)
	})
	f.add(cmd)
	return cmd
}

func newAgentShow() *cobra.Command {
	cmd := &cobra.Command{Use: "show --account ID AGENT_ID", Short: "Show an agent", Args: cobra.ExactArgs(1)}
	account := accountFlag(cmd)
	return adminCommand(cmd, func(a *admin, args []string) error {
		agent, err := a.db.Agent(a.ctx, *account, args[0])
		if err != nil {
			return err
		}
		v := viewAgent(agent)
		return a.print(v, v.show)
	})
}

func newAgentList() *cobra.Command {
	cmd := &cobra.Command{Use: "list --account ID", Short: "List an account's agents", Args: cobra.NoArgs}
	account := accountFlag(cmd)
	return adminCommand(cmd, func(a *admin, _ []string) error {
		if _, err := a.db.Account(a.ctx, *account); err != nil {
			return err
		}
		agents, err := a.db.Agents(a.ctx, *account, store.Page{})
		if err != nil {
			return err
		}
		views := make([]agentView, len(agents))
		for i := range agents {
			views[i] = viewAgent(&agents[i])
		}
		return a.print(map[string]any{"agents": views}, func(w io.Writer) {
			for _, v := range views {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", v.ID, v.Name, v.Voice, v.Language)
			}
		})
	})
}

func newAgentDelete() *cobra.Command {
	cmd := &cobra.Command{Use: "delete --account ID AGENT_ID", Short: "Delete an agent; its numbers are answered by nobody", Args: cobra.ExactArgs(1)}
	account := accountFlag(cmd)
	return adminCommand(cmd, func(a *admin, args []string) error {
		if err := a.db.DeleteAgent(a.ctx, *account, args[0], 0); err != nil {
			return err
		}
		return a.print(map[string]any{"id": args[0], "deleted": true}, func(w io.Writer) { fmt.Fprintf(w, "deleted\t%s\n", args[0]) })
	})
}
