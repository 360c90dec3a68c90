package server

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Token authenticates as a member of system:masters.
const Token = "oracle-admin"

// Server is a running kube-apiserver with its etcd.
type Server struct {
	URL        string `json:"url"`
	Token      string `json:"token"`
	CA         string `json:"ca"`         // path of a PEM file
	Kubeconfig string `json:"kubeconfig"` // path

	dir       string
	processes []*process
	client    *http.Client
}

type process struct {
	cmd  *exec.Cmd
	done chan struct{}
}

// Launch builds the programs if needed and starts them.
func Launch(ctx context.Context, extra ...string) (*Server, error) {
	dir, err := CacheDir()
	if err != nil {
		return nil, err
	}
	binaries, err := Build(dir)
	if err != nil {
		return nil, err
	}
	return Start(ctx, binaries, extra...)
}

// Start runs the pair with a fresh store and waits until the API server is ready. The extra flags
// go to the API server. Nothing outlives Stop, nor this program if it is killed.
func Start(ctx context.Context, b Binaries, extra ...string) (*Server, error) {
	dir, err := os.MkdirTemp("", "kubewright-oracle-")
	if err != nil {
		return nil, err
	}
	s := &Server{Token: Token, dir: dir}
	if err := s.start(ctx, b, extra); err != nil {
		err = fmt.Errorf("%w\n%s", err, tail(filepath.Join(dir, "kube-apiserver.log")))
		s.Stop()
		return nil, err
	}
	return s, nil
}

func (s *Server) start(ctx context.Context, b Binaries, extra []string) error {
	ports, err := freePorts(3)
	if err != nil {
		return err
	}
	etcdURL := fmt.Sprintf("http://127.0.0.1:%d", ports[0])
	peerURL := fmt.Sprintf("http://127.0.0.1:%d", ports[1])
	if err := s.run("etcd", b.Etcd,
		"--data-dir="+filepath.Join(s.dir, "etcd"), "--unsafe-no-fsync",
		"--listen-client-urls="+etcdURL, "--advertise-client-urls="+etcdURL,
		"--listen-peer-urls="+peerURL, "--initial-advertise-peer-urls="+peerURL,
		"--initial-cluster=default="+peerURL, "--log-level=error"); err != nil {
		return err
	}

	key := filepath.Join(s.dir, "service-account.key")
	if err := writeKey(key); err != nil {
		return err
	}
	tokens := filepath.Join(s.dir, "tokens.csv")
	if err := os.WriteFile(tokens, []byte(Token+",admin,admin,system:masters\n"), 0o600); err != nil {
		return err
	}
	certs := filepath.Join(s.dir, "certs")
	args := []string{
		"--etcd-servers=" + etcdURL, "--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", ports[2]),
		"--cert-dir=" + certs, "--authorization-mode=RBAC", "--token-auth-file=" + tokens,
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file=" + key,
		"--service-account-signing-key-file=" + key, "--service-cluster-ip-range=10.96.0.0/12",
		"--allow-privileged=true",
	}
	// No controller makes service accounts. Who enables a plugin says which.
	if !slices.ContainsFunc(extra, func(flag string) bool { return strings.HasPrefix(flag, "--enable-admission-plugins=") }) {
		args = append(args, "--disable-admission-plugins=ServiceAccount")
	}
	if err := s.run("kube-apiserver", b.APIServer, append(args, extra...)...); err != nil {
		return err
	}
	s.URL = fmt.Sprintf("https://127.0.0.1:%d", ports[2])
	s.CA = filepath.Join(certs, "apiserver.crt")
	if err := s.waitReady(ctx); err != nil {
		return err
	}
	return s.writeKubeconfig()
}

func (s *Server) run(name, path string, args ...string) error {
	log, err := os.Create(filepath.Join(s.dir, name+".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	p := &process{cmd: cmd, done: make(chan struct{})}
	go func() {
		_ = cmd.Wait()
		close(p.done)
	}()
	s.processes = append(s.processes, p)
	return nil
}

func (s *Server) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for {
		if pemBytes, err := os.ReadFile(s.CA); err == nil && s.client == nil {
			roots := x509.NewCertPool()
			if roots.AppendCertsFromPEM(pemBytes) {
				s.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
			}
		}
		if s.client != nil {
			if code, _, err := s.Do(ctx, http.MethodGet, "/readyz", nil, nil); err == nil && code == http.StatusOK {
				return nil
			}
		}
		for _, p := range s.processes {
			select {
			case <-p.done:
				return fmt.Errorf("%s ended: %v", filepath.Base(p.cmd.Path), p.cmd.ProcessState)
			default:
			}
		}
		select {
		case <-ctx.Done():
			return errors.New("kube-apiserver did not become ready within two minutes")
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// Do sends one request as administrator and returns the status code and the body.
func (s *Server) Do(ctx context.Context, method, path string, header http.Header, body []byte) (int, []byte, error) {
	code, _, content, err := s.Exchange(ctx, method, path, header, body)
	return code, content, err
}

// Exchange is Do with the header of the answer.
func (s *Server) Exchange(ctx context.Context, method, path string, header http.Header, body []byte) (int, http.Header, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, s.URL+path, strings.NewReader(string(body)))
	if err != nil {
		return 0, nil, nil, err
	}
	for name, values := range header {
		request.Header[name] = values
	}
	request.Header.Set("Authorization", "Bearer "+s.Token)
	response, err := s.client.Do(request)
	if err != nil {
		return 0, nil, nil, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	return response.StatusCode, response.Header, content, err
}

// Get reads a JSON document.
func (s *Server) Get(ctx context.Context, path string, header http.Header, into any) error {
	code, content, err := s.Do(ctx, http.MethodGet, path, header, nil)
	if err != nil {
		return err
	}
	if code != http.StatusOK {
		return fmt.Errorf("GET %s answered %d: %s", path, code, content)
	}
	return json.Unmarshal(content, into)
}

// Stop ends both programs and removes their files.
func (s *Server) Stop() {
	for i := len(s.processes) - 1; i >= 0; i-- {
		p := s.processes[i]
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-p.done:
		case <-time.After(2 * time.Second):
			_ = p.cmd.Process.Kill()
			<-p.done
		}
	}
	_ = os.RemoveAll(s.dir)
}

func (s *Server) writeKubeconfig() error {
	ca, err := os.ReadFile(s.CA)
	if err != nil {
		return err
	}
	type object = map[string]any
	content, err := json.MarshalIndent(object{
		"apiVersion": "v1", "kind": "Config", "current-context": "oracle",
		"clusters": []any{object{"name": "oracle", "cluster": object{
			"server": s.URL, "certificate-authority-data": base64.StdEncoding.EncodeToString(ca)}}},
		"users":    []any{object{"name": "oracle", "user": object{"token": s.Token}}},
		"contexts": []any{object{"name": "oracle", "context": object{"cluster": "oracle", "user": "oracle"}}},
	}, "", "  ")
	if err != nil {
		return err
	}
	s.Kubeconfig = filepath.Join(s.dir, "kubeconfig")
	return os.WriteFile(s.Kubeconfig, content, 0o600)
}

func writeKey(path string) error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}
	return os.WriteFile(path, pem.EncodeToMemory(block), 0o600)
}

// freePorts asks the system for ports, all held at once so that they differ.
func freePorts(n int) ([]int, error) {
	ports := make([]int, n)
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports, nil
}

func tail(path string) string {
	content, _ := os.ReadFile(path)
	return string(content[max(0, len(content)-4000):])
}
