package server

import (
	"context"
	"time"

	"github.com/spf13/cobra"
)

// agentPatience is how long a person who pressed Tab waits for a server.
const agentPatience = time.Second

// CompleteAgents completes the identifiers of --agent by asking the server.
func CompleteAgents(cmd *cobra.Command) {
	_ = cmd.RegisterFlagCompletionFunc("agent", func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return agentIDs(cmd), cobra.ShellCompDirectiveNoFileComp
	})
}

// AgentArgs has the first argument of a command completed with the account's agents.
func AgentArgs(cmd *cobra.Command) *cobra.Command {
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveDefault // a file, perhaps
		}
		return agentIDs(cmd), cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

// agentIDs are the account's agents, for completion. Whatever goes wrong, there is nothing to complete: a shell's
// prompt is no place for errors.
func agentIDs(cmd *cobra.Command) (ids []string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(cmd.Context()), agentPatience)
	defer cancel()
	r := &Address{URL: cmd.Flag("url").Value.String(), Key: cmd.Flag("key").Value.String(), Profile: cmd.Flag("profile").Value.String()}
	c, err := r.Client()
	if err != nil {
		return nil
	}
	list, _ := c.Agents(ctx)
	for _, a := range list {
		ids = append(ids, a.ID+"\t"+a.Name)
	}
	return ids
}
