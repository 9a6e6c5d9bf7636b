package knowledge

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"time"

	"parley/api"
	"parley/api/dashboard/page"
	"parley/api/wire"
	"parley/store/knowledge"
)

const (
	fileField = "file" // of the form, and of the API's
	// maxFiles bounds the files of one form, and maxFilesForm its bytes. One file at a time is in memory.
	maxFiles     = 10
	maxFilesForm = 100 << 20
	// filePatience is how long a browser may take to send one file.
	filePatience = time.Minute
)

// addFiles hands the files of a form to the API, one after the other, as they come. Those that are
// refused are named in the form, and the others are kept.
func addFiles(q *page.Request) error {
	f := page.NewForm()
	var added []string
	form, err := q.R.MultipartReader()
	if err != nil && !errors.Is(err, http.ErrNotMultipart) {
		return api.ErrBadRequest
	}
	var refused []string
	for more := form != nil; more; {
		api.SetBodyPatience(q.W, filePatience)
		part, err := form.NextPart()
		switch {
		case errors.Is(err, io.EOF):
			more = false
		case err != nil:
			return api.ReadError(err)
		case part.FormName() != fileField || part.FileName() == "": // a browser sends an empty one where none was chosen
		case len(added)+len(refused) == maxFiles:
			f.Fail(fileField, fmt.Sprintf("A form takes %d files. Send the others with another one.", maxFiles))
		default:
			why, err := addFile(q, part)
			if err != nil {
				return err
			}
			if why == "" {
				added = append(added, part.FileName())
			} else {
				refused = append(refused, part.FileName()+": "+why)
			}
		}
	}
	switch {
	case len(refused) > 0:
		f.Fail(fileField, strings.Join(refused, " "))
	case len(added) == 0:
		f.Fail(fileField, "Choose a file.")
	}
	if !f.OK() {
		return collectionAgain(q, "collection-files", func(v *collectionView) { v.File = f })
	}
	said := fmt.Sprintf("%d files were added and will be read.", len(added))
	if len(added) == 1 {
		said = added[0] + " was added and will be read."
	}
	return q.Done(page.Path(At+"/", q.ID("id")), said)
}

// addFile hands a part of a form that is a file to the API, in a form of its own. why says in a sentence
// that the API does not take it; empty: it does.
func addFile(q *page.Request, part *multipart.Part) (why string, err error) {
	var frame bytes.Buffer
	w := multipart.NewWriter(&frame)
	if _, err := w.CreatePart(part.Header); err != nil {
		return "", err
	}
	head := bytes.Clone(frame.Bytes())
	frame.Reset()
	if err := w.Close(); err != nil {
		return "", err
	}
	body := &sent{part, nil}
	err = q.Upload(collectionRoute(q, "/documents"), w.FormDataContentType(), io.MultiReader(bytes.NewReader(head), body, &frame), nil)
	if body.err != nil { // the form is not there to its end
		return "", api.ReadError(body.err)
	}
	if p := api.ProblemOf(err); err != nil && p.Status == http.StatusRequestEntityTooLarge {
		return fmt.Sprintf("it is larger than %d MB.", knowledge.MaxBytes>>20), nil
	}
	var f page.Form
	if err := f.Refused(err); err != nil {
		return "", err
	}
	return strings.TrimPrefix(f.Fault, "File: "), nil
}

// sent keeps the error that reading what a browser sends has ended with.
type sent struct {
	io.Reader
	err error
}

func (s *sent) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

func addAddress(q *page.Request, f *page.Form) error {
	in := wire.NewKnowledgeAddress{URL: f.Need("url", "Enter an address, such as https://example.com/hours."), Title: f.Value("title")}
	again := func() error {
		return collectionAgain(q, "collection-address", func(v *collectionView) { v.Address = f })
	}
	if done, err := q.Submit(f, http.MethodPost, collectionRoute(q, "/documents"), in, nil, again); !done {
		return err
	}
	return q.Done(page.Path(At+"/", q.ID("id")), "The address was added and will be read.")
}

// documentRoute is the API's address of the document of the path, or of what is below it.
func documentRoute(q *page.Request, below string) string {
	return collectionRoute(q, page.Path("/documents/", q.ID("document"))+below)
}

func refreshDocument(q *page.Request) error {
	return q.Do(http.MethodPost, documentRoute(q, "/refresh"), nil, page.Path(At+"/", q.ID("id")), "The address will be fetched again.")
}

func deleteDocument(q *page.Request) error {
	return q.Do(http.MethodDelete, documentRoute(q, ""), nil, page.Path(At+"/", q.ID("id")), "The document was deleted.")
}
