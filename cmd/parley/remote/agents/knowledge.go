package agents

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"parley/api/client"
	"parley/api/wire"
	"parley/cmd/parley/command"
	"parley/cmd/parley/remote/server"
)

// documentPoll is how often a document that is being read is looked at.
const documentPoll = 300 * time.Millisecond

func newKnowledgeCommand() *cobra.Command {
	return command.Group("knowledge", "Keep documents that agents answer from",
		"Documents are files (PDF, DOCX, HTML, Markdown, text) and addresses of pages, in collections that agents name in\n"+
			"settings.knowledge_bases. The server reads them and searches them in calls.",
		"  parley knowledge create Handbook\n  parley knowledge add kb_… prices.pdf https://example.com/hours\n  parley knowledge search kb_… opening hours",
		newKnowledgeList(), newKnowledgeCreate(), newKnowledgeAdd(), newKnowledgeRefresh(), newKnowledgeSearch(), newKnowledgeDelete())
}

func newKnowledgeList() *cobra.Command {
	return server.Ask(&cobra.Command{Use: "list [COLLECTION]", Short: "List collections, or the documents of one",
		Long:    "Lists the account's collections, or the documents of one with how far they are, the newest first.",
		Example: "  parley knowledge list\n  parley knowledge list kb_…", Args: cobra.MaximumNArgs(1)}, command.OneObject, func(q *server.Request, args []string) error {
		if len(args) == 1 {
			list, err := q.KnowledgeDocuments(q.Ctx, args[0])
			if err != nil {
				return err
			}
			return q.Answer(map[string]any{"data": append([]wire.KnowledgeDocument{}, list...)}, func(w io.Writer) {
				fmt.Fprintln(w, "document\ttitle\tstate\tpassages\tsource")
				for _, d := range list {
					fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\n", d.ID, d.Title, stateOf(&d), d.Passages, d.Source)
				}
			})
		}
		list, err := q.KnowledgeBases(q.Ctx)
		if err != nil {
			return err
		}
		return q.Answer(map[string]any{"data": append([]wire.KnowledgeBase{}, list...)}, func(w io.Writer) {
			fmt.Fprintln(w, "collection\tname\tlanguage\tdocuments\tpassages\tMB")
			for _, b := range list {
				fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%.1f\n", b.ID, b.Name, b.Language, b.Documents, b.Passages, float64(b.Bytes)/(1<<20))
			}
		})
	})
}

// stateOf is a document's state, with the reason where it has one.
func stateOf(d *wire.KnowledgeDocument) string {
	if d.Reason != "" {
		return d.State + ": " + d.Reason
	}
	return d.State
}

func newKnowledgeCreate() *cobra.Command {
	cmd := &cobra.Command{Use: "create NAME", Short: "Create a collection",
		Long: "Creates a collection and prints its identifier, which agents name in settings.knowledge_bases. For documents in en, es,\n" +
			"fr, it, de and pt words are found in all their forms, in other languages as they are written.",
		Example: "  parley knowledge create Handbook\n  parley knowledge create Preisliste --language de", Args: cobra.ExactArgs(1)}
	language := cmd.Flags().String("language", "en", "what its documents are written in; it stays as it is")
	return server.Ask(cmd, command.OneObject, func(q *server.Request, args []string) error {
		b, err := q.CreateKnowledgeBase(q.Ctx, wire.NewKnowledgeBase{Name: args[0], Language: *language})
		if err != nil {
			return err
		}
		return q.AnswerText(b, b.ID+"\n")
	})
}

func newKnowledgeAdd() *cobra.Command {
	cmd := &cobra.Command{Use: "add COLLECTION FILE|URL...", Short: "Add files and addresses to a collection",
		Long: "Adds documents to a collection, and waits until they are read. Files are PDF, DOCX, HTML, Markdown or text, 20 MB at most;\n" +
			"what begins with https:// is fetched by the server. Text in pictures is not read. What cannot be read is listed with its\n" +
			"reason, and the command fails.",
		Example: "  parley knowledge add kb_… prices.pdf handbook.docx\n  parley knowledge add kb_… https://example.com/hours --title \"Opening hours\"", Args: cobra.MinimumNArgs(2)}
	title := cmd.Flags().String("title", "", "what the document is called (default: its file's name, or the page's title)")
	leave := cmd.Flags().Bool("no-wait", false, "do not wait until the documents are read")
	return server.Ask(cmd, "print one JSON object with all documents", func(q *server.Request, args []string) error {
		if *title != "" && len(args) > 2 {
			return command.UsageError("--title: for one document")
		}
		var added []*wire.KnowledgeDocument
		for _, source := range args[1:] {
			d, err := addDocument(q, args[0], source, *title)
			if err != nil {
				return fmt.Errorf("%s: %w", source, err)
			}
			added = append(added, d)
		}
		if !*leave {
			if err := awaitDocuments(q, args[0], added); err != nil {
				return err
			}
		}
		return showAdded(q, added)
	})
}

// showAdded answers with documents, and fails where one cannot be read.
func showAdded(q *server.Request, added []*wire.KnowledgeDocument) error {
	err := q.Answer(map[string]any{"data": added}, func(w io.Writer) {
		for _, d := range added {
			fmt.Fprintf(w, "%s\t%s\t%s\t%d passages\n", d.ID, d.Title, stateOf(d), d.Passages)
		}
	})
	if err != nil {
		return err
	}
	for _, d := range added {
		if d.State == "failed" {
			return errors.New(d.Source + ": " + d.Reason)
		}
	}
	return nil
}

// addDocument adds a file, or an address.
func addDocument(q *server.Request, base, source, title string) (*wire.KnowledgeDocument, error) {
	if strings.HasPrefix(source, "https://") || strings.HasPrefix(source, "http://") {
		return q.AddAddress(q.Ctx, base, wire.NewKnowledgeAddress{URL: source, Title: title})
	}
	f, err := os.Open(source)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	body, err := io.ReadAll(io.LimitReader(f, client.MaxDocument+1))
	switch {
	case err != nil:
		return nil, err
	case len(body) > client.MaxDocument:
		return nil, fmt.Errorf("the file is larger than the %d MB that a server takes", client.MaxDocument>>20)
	}
	return q.AddFile(q.Ctx, base, source, title, body)
}

// awaitDocuments waits until documents are read, and has them as they are then. Ctrl-C leaves them to the server.
func awaitDocuments(q *server.Request, base string, list []*wire.KnowledgeDocument) error {
	for i := 0; i < len(list); {
		if s := list[i].State; s != "queued" && s != "reading" {
			i++
			continue
		}
		select {
		case <-time.After(documentPoll):
		case <-q.Ctx.Done():
			return q.Ctx.Err()
		}
		d, err := q.KnowledgeDocument(q.Ctx, base, list[i].ID)
		if err != nil {
			return err
		}
		list[i] = d
	}
	return nil
}

func newKnowledgeRefresh() *cobra.Command {
	return server.Ask(&cobra.Command{Use: "refresh COLLECTION DOCUMENT", Short: "Have an address fetched again",
		Long:    "Has the server fetch an address again, and waits until it is read. What it said before is found until then.",
		Example: "  parley knowledge refresh kb_… doc_…", Args: cobra.ExactArgs(2)}, "print one JSON object with the document", func(q *server.Request, args []string) error {
		d, err := q.RefreshDocument(q.Ctx, args[0], args[1])
		if err != nil {
			return err
		}
		list := []*wire.KnowledgeDocument{d}
		if err := awaitDocuments(q, args[0], list); err != nil {
			return err
		}
		return showAdded(q, list)
	})
}

func newKnowledgeSearch() *cobra.Command {
	cmd := &cobra.Command{Use: "search COLLECTION WORD...", Short: "Search a collection as agents do",
		Long: "Prints the passages that fit best, with their sources. Those with all of the words come first; where they are few, others\n" +
			"with any of the words follow. A server with an embeddings engine merges those with them that are nearest by what they mean.",
		Example: "  parley knowledge search kb_… opening hours\n  parley knowledge search kb_… '\"electric bicycles\" -rent'", Args: cobra.MinimumNArgs(2)}
	limit := cmd.Flags().Int("limit", 5, "how many passages at most, 1 to 5")
	return server.Ask(cmd, command.OneObject, func(q *server.Request, args []string) error {
		if *limit < 1 || *limit > 5 {
			return command.UsageError("--limit: from 1 to 5")
		}
		found, err := q.SearchKnowledge(q.Ctx, args[0], wire.KnowledgeQuestion{Query: strings.Join(args[1:], " "), Limit: *limit})
		if err != nil {
			return err
		}
		var b strings.Builder
		for i, p := range found.Passages {
			where := p.Title
			if p.Page > 0 {
				where += fmt.Sprintf(", page %d", p.Page)
			}
			if p.Heading != "" {
				where += ", " + p.Heading
			}
			fmt.Fprintf(&b, "%d. %s (%s)\n%s\n\n", i+1, where, p.Source, p.Text)
		}
		if len(found.Passages) == 0 {
			b.WriteString("nothing is found\n")
		}
		return q.AnswerText(found, b.String())
	})
}

func newKnowledgeDelete() *cobra.Command {
	return server.Ask(&cobra.Command{Use: "delete COLLECTION [DOCUMENT]", Short: "Delete a document, or a collection with all of them",
		Long:    "Deletes a document, or a collection with its documents, for good. Agents that name the collection find nothing in it any more.",
		Example: "  parley knowledge delete kb_… doc_…\n  parley knowledge delete kb_…", Args: cobra.RangeArgs(1, 2)}, command.OneObject, func(q *server.Request, args []string) error {
		document, id := "", args[len(args)-1]
		if len(args) == 2 {
			document = id
		}
		if err := q.DeleteKnowledge(q.Ctx, args[0], document); err != nil {
			return err
		}
		return q.AnswerText(map[string]any{"id": id, "deleted": true}, "deleted\t"+id+"\n")
	})
}
