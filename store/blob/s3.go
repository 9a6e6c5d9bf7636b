package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/encrypt"
)

const (
	// answerPatience is how long the store may take to begin an answer, askPatience how long a request without audio may
	// take in all.
	answerPatience = 10 * time.Second
	askPatience    = 20 * time.Second
	// leastSpeed is the slowest upload that is waited for, in bytes a second: twice what one call records.
	leastSpeed = 64 << 10
	// tries is how often a request is made that the store answers with "slow down" or an internal error. After that the
	// caller repeats it.
	tries = 2
	// partSize is how much of a large file is put at once.
	partSize = 16 << 20
)

// bucket is a store in a part of a bucket: the keys that begin with prefix.
type bucket struct {
	core       *minio.Core
	name       string
	prefix     string // empty, or ends with "/"
	encryption encrypt.ServerSide
}

// newBucket asks nothing of the store.
func newBucket(l Location, a Access, kind string) (*bucket, error) {
	transport, err := minio.DefaultTransport(l.secure)
	if err != nil {
		return nil, err
	}
	transport.ResponseHeaderTimeout = answerPatience
	transport.MaxIdleConnsPerHost = 32 // as many as put and get at once
	core, err := minio.NewCore(l.endpoint, &minio.Options{Creds: credentials.NewStaticV4(a.Key, a.Secret, ""), Secure: l.secure, Transport: transport,
		Region: l.region, MaxRetries: tries})
	if err != nil {
		return nil, fmt.Errorf("blob: %w", err)
	}
	b := &bucket{core: core, name: l.bucket, prefix: path.Join(l.prefix, kind) + "/"}
	b.encryption, err = parseEncryption(a.Encryption)
	return b, err
}

// parseEncryption reads what the header x-amz-server-side-encryption is to say; nil: it is not sent.
func parseEncryption(s string) (encrypt.ServerSide, error) {
	name, key, _ := strings.Cut(s, "=")
	switch {
	case s == "":
		return nil, nil
	case s == "AES256":
		return encrypt.NewSSE(), nil
	case name == "aws:kms" && s != "aws:kms=":
		return encrypt.NewSSEKMS(key, nil)
	}
	return nil, errors.New("blob: no such encryption")
}

// fault is an error of the store's, as callers know it.
func (b *bucket) fault(op, key string, err error) error {
	if err == nil {
		return nil
	}
	if minio.ToErrorResponse(err).Code == minio.NoSuchKey {
		return &fs.PathError{Op: op, Path: key, Err: fs.ErrNotExist}
	}
	return fmt.Errorf("%w: %s in bucket %s: %w", ErrUnavailable, op, b.name, err)
}

// Put implements Store. A large file goes in parts, which the store joins.
func (b *bucket) Put(ctx context.Context, key, from string) error {
	file, err := os.Open(from)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, askPatience+time.Duration(info.Size()/leastSpeed)*time.Second)
	defer cancel()
	_, err = b.core.Client.PutObject(ctx, b.name, b.prefix+key, file, info.Size(),
		minio.PutObjectOptions{ServerSideEncryption: b.encryption, PartSize: partSize, NumThreads: 1})
	return b.fault("put", key, err)
}

// Get implements Store.
func (b *bucket) Get(ctx context.Context, key string, from int64) (io.ReadCloser, error) {
	var o minio.GetObjectOptions
	if from > 0 {
		if err := o.SetRange(from, 0); err != nil {
			return nil, err
		}
	}
	body, _, _, err := b.core.GetObject(ctx, b.name, b.prefix+key, o)
	if err != nil {
		return nil, b.fault("get", key, err)
	}
	return &stream{b, key, body}, nil
}

// stream is a file that is being read, whose errors are those of the store.
type stream struct {
	b    *bucket
	key  string
	body io.ReadCloser
}

func (s *stream) Read(p []byte) (int, error) {
	n, err := s.body.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = s.b.fault("get", s.key, err)
	}
	return n, err
}

func (s *stream) Close() error { return s.body.Close() }

// Stat implements Store.
func (b *bucket) Stat(ctx context.Context, key string) (Info, error) {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	o, err := b.core.StatObject(ctx, b.name, b.prefix+key, minio.StatObjectOptions{})
	if err = b.fault("stat", key, err); errors.Is(err, fs.ErrNotExist) {
		// The answer has no body, so it may be the bucket that is not there.
		if _, gone := b.List(ctx, key); gone != nil {
			err = gone
		}
	}
	return Info{key, o.Size, o.LastModified}, err
}

// Delete implements Store.
func (b *bucket) Delete(ctx context.Context, key string) error {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	err := b.fault("delete", key, b.core.RemoveObject(ctx, b.name, b.prefix+key, minio.RemoveObjectOptions{}))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// List implements Store.
func (b *bucket) List(ctx context.Context, prefix string) (all []Info, err error) {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	for o := range b.core.ListObjectsIter(ctx, b.name, minio.ListObjectsOptions{Prefix: b.prefix + prefix, Recursive: true}) {
		if o.Err != nil {
			return nil, b.fault("list", prefix, o.Err)
		}
		all = append(all, Info{strings.TrimPrefix(o.Key, b.prefix), o.Size, o.LastModified})
	}
	return all, b.fault("list", prefix, ctx.Err())
}
