package main

import (
	"io"

	"github.com/spf13/cobra"
)

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
