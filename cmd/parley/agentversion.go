package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"parley/cmd/parley/conversation"
	"parley/pipeline/agent"
	"parley/store"
)

func newAgentSchema() *cobra.Command {
	return &cobra.Command{Use: "schema", Short: "Print the JSON Schema of agents", Args: cobra.NoArgs,
		Long:    "Prints the JSON Schema (2020-12) of agents, which editors check files by as they are written. The API takes and gives the same.",
		Example: "  parley agent schema >agent.schema.json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := json.MarshalIndent(agent.Schema, "", "  ")
			if err == nil {
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", text)
			}
			return err
		}}
}

func newAgentExport() *cobra.Command {
	cmd := &cobra.Command{Use: "export AGENT_ID", Short: "Print an agent as a YAML file", Args: cobra.ExactArgs(1),
		Long:    "Prints an agent, or one of its versions, as a file that create and update take.",
		Example: "  parley agent export ag_… >agent.yaml"}
	owner := agentOwner(cmd)
	var version int64
	cmd.Flags().Int64Var(&version, "version", 0, "which version; 0: as it is")
	return adminCommand(cmd, func(a *admin, args []string) error {
		account, err := owner(a, args[0])
		if err != nil {
			return err
		}
		found, err := agentAt(a, account, args[0], version)
		if err != nil {
			return err
		}
		written := conversation.DocumentOf(found)
		document, err := written.Members()
		if err != nil {
			return err
		}
		return a.print(document, func(w io.Writer) {
			e := yaml.NewEncoder(w)
			e.SetIndent(2)
			_ = e.Encode(document) // there is nowhere to report a failed output
		})
	})
}

// agentAt is an agent, or one of its versions.
func agentAt(a *admin, account, id string, version int64) (*store.Agent, error) {
	if version == 0 {
		return a.db.Agent(a.ctx, account, id)
	}
	return a.db.AgentVersion(a.ctx, account, id, version)
}

func newAgentVersions() *cobra.Command {
	cmd := &cobra.Command{Use: "versions AGENT_ID", Short: "List an agent's versions, the newest first", Args: cobra.ExactArgs(1),
		Long: "Lists what an agent was: each change leaves a version.", Example: "  parley agent versions ag_…"}
	owner := agentOwner(cmd)
	return adminCommand(cmd, func(a *admin, args []string) error {
		account, err := owner(a, args[0])
		if err != nil {
			return err
		}
		found, err := a.db.AgentVersions(a.ctx, account, args[0], 0, 0)
		if err == nil && len(found) == 0 {
			err = store.ErrNotFound
		}
		if err != nil {
			return err
		}
		views := make([]agentView, len(found))
		for i := range found {
			views[i] = viewAgent(&found[i])
		}
		return a.print(map[string]any{"versions": views}, func(w io.Writer) {
			for _, v := range views {
				fmt.Fprintf(w, "%d\t%s\t%s\n", v.Version, v.UpdatedAt.Format("2006-01-02 15:04:05"), v.Name)
			}
		})
	})
}

func newAgentRestore() *cobra.Command {
	cmd := &cobra.Command{Use: "restore AGENT_ID VERSION", Short: "Make an agent what it was", Args: cobra.ExactArgs(2),
		Long:    "Makes an agent what it was in a version. That is a change like any other, with a version of its own.",
		Example: "  parley agent restore ag_… 3"}
	owner := agentOwner(cmd)
	return adminCommand(cmd, func(a *admin, args []string) error {
		version, err := strconv.ParseInt(args[1], 10, 64)
		if err != nil || version < 1 {
			return fmt.Errorf("%w: %q is no version", store.ErrInvalid, args[1])
		}
		account, err := owner(a, args[0])
		if err != nil {
			return err
		}
		now, err := a.db.Agent(a.ctx, account, args[0])
		if err != nil {
			return err
		}
		was, err := a.db.AgentVersion(a.ctx, account, args[0], version)
		if err != nil {
			return err
		}
		was.Version = now.Version
		restored, err := a.db.UpdateAgent(a.ctx, account, *was, a.now)
		if err != nil {
			return err
		}
		v := viewAgent(restored)
		return a.print(v, v.show)
	})
}
