package main

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"
)

// agentPatience is how long a person who pressed Tab waits for a server.
const agentPatience = time.Second

func newCompletionCommand() *cobra.Command {
	write := map[string]func(*cobra.Command, io.Writer) error{
		"bash":       func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) },
		"zsh":        (*cobra.Command).GenZshCompletion,
		"fish":       func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) },
		"powershell": (*cobra.Command).GenPowerShellCompletionWithDesc,
	}
	return &cobra.Command{Use: "completion bash|zsh|fish|powershell", Short: "Print a script that completes command lines",
		Long: "Prints a script for the shell that completes commands, flags and their values: voices, languages, formats, and the agents\n" +
			"of the account whose key is in PARLEY_API_KEY. The bash script needs the package bash-completion.",
		Example: "  source <(parley completion bash)\n  parley completion zsh > \"${fpath[1]}/_parley\"\n  parley completion fish > ~/.config/fish/completions/parley.fish\n" +
			"  parley completion powershell >> $PROFILE",
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"}, Args: cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		RunE: func(cmd *cobra.Command, args []string) error { return write[args[0]](cmd.Root(), cmd.OutOrStdout()) }}
}

// complete says which values flags of cmd take.
func complete(cmd *cobra.Command, values map[string][]string) {
	for flag, list := range values {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)) // a test presses Tab
	}
}

// completeAgents completes the identifiers of --agent by asking the server. Whatever goes wrong,
// there is nothing to complete: a shell's prompt is no place for errors.
func completeAgents(cmd *cobra.Command) {
	_ = cmd.RegisterFlagCompletionFunc("agent", func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(cmd.Context()), agentPatience)
		defer cancel()
		r := &remote{url: cmd.Flag("url").Value.String(), key: cmd.Flag("key").Value.String()}
		var ids []string
		if c, err := r.client(); err == nil {
			list, _ := c.Agents(ctx)
			for _, a := range list {
				ids = append(ids, a.ID+"\t"+a.Name)
			}
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	})
}
