package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"parley/api/client"
	"parley/api/wire"
	"parley/cmd/parley/command"
	"parley/cmd/parley/remote/server"
)

// agentMembers are what the file of an agent may have.
var agentMembers = []string{"id", "version", "created_at", "updated_at", "name", "voice", "language", "first_message", "prompt", "tools", "settings", "metadata"}

// agentFile is an agent as its file says.
type agentFile struct {
	path, text string
	document   json.RawMessage
	id         string // of the agent that the file was made from; empty: none
	version    int64  // that the agent had then; 0: not known
}

// readAgent reads the file of an agent, "-" for standard input. What the server would ignore is a mistake here.
func readAgent(cmd *cobra.Command, path string) (*agentFile, error) {
	text, err := server.ReadText(cmd, path)
	if err != nil {
		return nil, err
	}
	return parseAgent(path, text)
}

func parseAgent(path, text string) (*agentFile, error) {
	document, err := wire.FromYAML(text)
	if err != nil {
		return nil, command.UsageError(path + ": " + err.Error())
	}
	f := &agentFile{path: path, text: text, document: document}
	var members map[string]json.RawMessage
	if json.Unmarshal(document, &members) != nil || members == nil {
		return nil, command.UsageError(path + ": this is no agent, which has a name, a prompt and so on")
	}
	for name := range members {
		if !slices.Contains(agentMembers, name) {
			return nil, command.UsageError(fmt.Sprintf("%s: an agent has no %q; it has %s", path, name, strings.Join(agentMembers, ", ")))
		}
	}
	for name, to := range map[string]any{"id": &f.id, "version": &f.version} {
		if value, is := members[name]; is && json.Unmarshal(value, to) != nil {
			return nil, command.UsageError(fmt.Sprintf("%s: %s: as parley agent pull writes it", path, name))
		}
	}
	return f, nil
}

// agent is the identifier of the agent that is meant, and the version of it that the file was made from: 0 when that
// was another agent.
func (f *agentFile) agent(flag string) (id string, version int64) {
	if flag == "" || flag == f.id {
		return f.id, f.version
	}
	return flag, 0
}

func newAgentPull() *cobra.Command {
	cmd := &cobra.Command{Use: "pull AGENT_ID [FILE]", Short: "Write an agent as a YAML file",
		Long: "Writes an agent, or one of its versions, as a YAML file that push takes: with its identifier and version, and without its metadata,\n" +
			"which are no part of it. Without FILE it is printed.",
		Example: "  parley agent pull ag_… lola.yaml\n  parley agent pull ag_… --version 3 | diff - lola.yaml", Args: cobra.RangeArgs(1, 2)}
	version := cmd.Flags().Int64("version", 0, "which version; 0: as it is")
	return server.AgentArgs(server.Ask(cmd, command.OneObject, func(q *server.Request, args []string) error {
		read := func() (*wire.AgentDefinition, error) {
			if *version != 0 {
				return q.AgentVersion(q.Ctx, args[0], *version)
			}
			return q.Agent(q.Ctx, args[0])
		}
		a, err := read()
		if err != nil {
			return err
		}
		text, err := a.VersionedFile()
		if err != nil {
			return err
		}
		if len(args) == 1 || args[1] == "-" {
			return q.AnswerText(a, text)
		}
		if err := q.WriteText(args[1], text); err != nil {
			return err
		}
		return q.Done(map[string]any{"id": a.ID, "version": a.Version, "file": args[1]}, "%s: %s, version %d\n", args[1], a.ID, a.Version)
	}))
}

func newAgentDiff() *cobra.Command {
	cmd := &cobra.Command{Use: "diff FILE", Short: "Show what pushing a file would change",
		Long: "Compares an agent with its file, - for standard input, field by field: what the agent has after -, what the file has after +. The server\n" +
			"judges the file, too, and stores nothing.",
		Example: "  parley agent diff lola.yaml\n  parley agent diff lola.yaml --exit-code\n  parley agent diff lola.yaml --id ag_… --profile staging", Args: cobra.ExactArgs(1)}
	flag := cmd.Flags().String("id", "", "the agent to compare with (otherwise the one that the file names)")
	status := cmd.Flags().Bool("exit-code", false, "exit status 1 when something differs")
	return server.Ask(cmd, command.OneObject, func(q *server.Request, args []string) error {
		f, err := readAgent(q.Command, args[0])
		if err != nil {
			return err
		}
		id, _ := f.agent(*flag)
		if id == "" {
			return command.UsageError(f.path + " names no agent: push creates it, or use --id")
		}
		check, err := q.CheckAgent(q.Ctx, id, f.document)
		if err != nil {
			return err
		}
		if !check.Valid {
			return mistaken(f.path, check.Mistakes)
		}
		var text strings.Builder // prompts have tabs of their own
		showChanges(&text, check.Changes)
		if err := q.AnswerText(check, text.String()); err != nil {
			return err
		}
		if *status && len(check.Changes) > 0 {
			return errDiffers
		}
		return nil
	})
}

// errDiffers is for scripts that want to know.
var errDiffers = errors.New("the agent is not what the file says")

// mistaken says all that is wrong with a file.
func mistaken(path string, wrong []wire.Mistake) error {
	texts := make([]string, len(wrong))
	for i, m := range wrong {
		texts[i] = m.Path + ": " + m.Problem
	}
	return command.UsageError(path + ": " + strings.Join(texts, "; "))
}

func newAgentPush() *cobra.Command {
	cmd := &cobra.Command{Use: "push FILE", Short: "Make an agent what a file says, or create it",
		Long: "Replaces the agent that the file names, if it is still as it was when the file was pulled, and notes the new version in the file; one\n" +
			"that names none becomes a new agent, and gets its identifier. With --force the agent is replaced whatever it has become, as where git\n" +
			"alone decides what it is. Metadata that the file does not have stay. Calls in progress go on with what they began with.",
		Example: "  parley agent push lola.yaml\n  parley agent push lola.yaml --id ag_… --force --profile staging", Args: cobra.ExactArgs(1)}
	flag := cmd.Flags().String("id", "", "the agent to replace (otherwise the one that the file names)")
	force := cmd.Flags().Bool("force", false, "replace it even when it has changed since it was pulled")
	return server.Ask(cmd, command.OneObject, func(q *server.Request, args []string) error {
		f, err := readAgent(q.Command, args[0])
		if err != nil {
			return err
		}
		id, version := f.agent(*flag)
		if id == "" {
			return pushed(q, f, "", "created")(q.CreateAgent(q.Ctx, f.document))
		}
		if version == 0 && !*force {
			return command.UsageError(fmt.Sprintf("%s was not pulled from %s: parley agent diff %s --id %s shows what it would change, and --force replaces the agent", f.path, id, f.path, id))
		}
		meant := version
		if *force {
			meant = 0 // whatever it has
		}
		a, err := q.ReplaceAgent(q.Ctx, id, meant, f.document)
		if refused, is := errors.AsType[*client.Error](err); is && refused.Status == http.StatusPreconditionFailed {
			return pushed(q, f, id, "unchanged")(conflict(q, f, id, err))
		}
		if err == nil && a.Version == version {
			return pushed(q, f, id, "unchanged")(a, nil)
		}
		return pushed(q, f, id, "pushed")(a, err)
	})
}

// conflict is the outcome of a push to an agent that has changed since: the agent when the file says just what it is, else
// an error with the ways out.
func conflict(q *server.Request, f *agentFile, id string, refused error) (*wire.AgentDefinition, error) {
	is, err := q.Agent(q.Ctx, id)
	if err != nil {
		return nil, err
	}
	if check, err := q.CheckAgent(q.Ctx, id, f.document); err == nil && check.Valid && len(check.Changes) == 0 {
		return is, nil
	}
	return nil, fmt.Errorf("%s was pulled at version %d, and the agent has been changed: it has version %d, of %s. parley agent diff %s shows the difference, "+
		"parley agent pull %s %s takes the agent's, and --force the file's: %w", f.path, f.version, is.Version, command.Stamp(&is.UpdatedAt), f.path, id, f.path, refused)
}

// pushed answers with an agent that a file was pushed to, and notes in the file, if it is that agent's, which version
// it has now.
func pushed(q *server.Request, f *agentFile, id, what string) func(*wire.AgentDefinition, error) error {
	return func(a *wire.AgentDefinition, err error) error {
		if err != nil {
			return err
		}
		if (f.id == id || id == "") && f.path != "-" && (f.id != a.ID || f.version != a.Version) {
			text, err := f.noting(a.ID, a.Version)
			if err == nil {
				err = q.WriteText(f.path, text)
			}
			if err != nil {
				return fmt.Errorf("the agent %s has version %d now, which %s does not say: %w", a.ID, a.Version, f.path, err)
			}
		}
		return q.AnswerText(a, fmt.Sprintf("%s\t%s\tversion %d\n", what, a.ID, a.Version))
	}
}

// noting is the text of the file with an identifier and a version, and otherwise as it was written.
func (f *agentFile) noting(id string, version int64) (string, error) {
	text := f.text
	for _, m := range []struct{ name, value string }{{"version", fmt.Sprint(version)}, {"id", id}} {
		line := regexp.MustCompile(`(?m)^` + m.name + `:[ \t]*[^\s#]*`)
		if place := line.FindStringIndex(text); place != nil {
			text = text[:place[0]] + m.name + ": " + m.value + text[place[1]:]
			continue
		}
		start := 0 // of the document
		if strings.HasPrefix(text, "---\n") {
			start = len("---\n")
		}
		text = text[:start] + m.name + ": " + m.value + "\n" + text[start:]
	}
	if now, err := parseAgent(f.path, text); err != nil || now.id != id || now.version != version {
		return "", errors.New("write id and version into it")
	}
	return text, nil
}

// showChanges shows in which fields an agent and a file differ.
func showChanges(w io.Writer, changes []wire.Change) {
	server.Total(w, len(changes), "change", false)
	for _, c := range changes {
		fmt.Fprintln(w, c.Path)
		was, is := lines(c.Before), lines(c.After)
		for len(was) > 0 && len(is) > 0 && was[0] == is[0] {
			was, is = was[1:], is[1:]
		}
		for len(was) > 0 && len(is) > 0 && was[len(was)-1] == is[len(is)-1] {
			was, is = was[:len(was)-1], is[:len(is)-1]
		}
		for _, l := range was {
			fmt.Fprintln(w, "  - "+l)
		}
		for _, l := range is {
			fmt.Fprintln(w, "  + "+l)
		}
	}
}

// lines are a value of an agent as lines of a text.
func lines(value any) []string {
	switch v := value.(type) {
	case nil:
		return nil
	case string:
		return strings.Split(strings.TrimSuffix(v, "\n"), "\n")
	}
	text, _ := json.Marshal(value) // it came as JSON
	return []string{string(text)}
}
