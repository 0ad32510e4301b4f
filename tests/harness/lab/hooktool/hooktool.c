/*
 * Plays the program by whose name it is called: a hook tool of Juju, or a program of the system,
 * such as systemctl. It sends its arguments over the socket that the hook's environment names, and
 * prints the lab's answer (package hooktool). Outside a hook it becomes the Go program beside it,
 * which plays the programs of the machine.
 *
 * It is in C because a process in Go costs three to four times as much to start, and a hook starts a
 * dozen. Measured again on 2026-11-28, after hooks had come to call half as many, on 2 cores with Linux 6.18
 * and Go 1.26, while other tests ran, side by side. The client in Go used system calls alone, without os, fmt
 * and net. The CPU time of a test is that of all its processes, the mean of two runs of each.
 *
 *                                    this program      client in Go
 *   one call                         0.46 ms CPU       1.67 ms CPU
 *                                    1.3 ms in all     2.8 ms in all
 *   TestLeave (tests/quick/core),
 *   1,800 calls                      15.4 s CPU        18.3 s CPU (+19 %)
 */
#include <err.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* The name of this program is the name of the Go program with this suffix (hooktool.Client). */
#define SUFFIX "-hook-tool"

/* How long to wait for an answer, in seconds: systemctl waits for services. */
#define LIMIT 600

struct text {
	char *bytes;
	size_t size;
};

struct answer {
	struct text code, out, errors, wants;
};

static void append(struct text *t, const char *bytes, size_t size)
{
	t->bytes = realloc(t->bytes, t->size + size + 1);
	if (!t->bytes)
		err(1, "realloc");
	if (size)
		memcpy(t->bytes + t->size, bytes, size);
	t->size += size;
	t->bytes[t->size] = 0;
}

/* The length of a field precedes it. */
static void append_field(struct text *t, const char *bytes, size_t size)
{
	char length[32];

	append(t, length, snprintf(length, sizeof length, "%zu:", size));
	append(t, bytes, size);
}

/* Takes the first field off the rest; false if it is not whole. */
static int take_field(struct text *rest, struct text *field)
{
	char *end;
	size_t size;

	if (!rest->size || *rest->bytes < '0' || *rest->bytes > '9')
		return 0;
	size = strtoul(rest->bytes, &end, 10);
	if (*end != ':' || size > (size_t)(rest->bytes + rest->size - end - 1))
		return 0;
	*field = (struct text){end + 1, size};
	rest->size -= end + 1 + size - rest->bytes;
	rest->bytes = end + 1 + size;
	return 1;
}

static struct text read_all(int fd)
{
	struct text all = {0};
	char buffer[16384];
	ssize_t n;

	append(&all, "", 0);
	while ((n = read(fd, buffer, sizeof buffer)) != 0) {
		if (n > 0)
			append(&all, buffer, n);
		else if (errno == ECONNRESET)
			break; /* as at the end: the hook is being killed */
		else if (errno != EINTR)
			err(1, "cannot read");
	}
	return all;
}

static void write_all(int fd, struct text t)
{
	while (t.size) {
		ssize_t n = write(fd, t.bytes, t.size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return; /* the reader has ended */
		t.bytes += n;
		t.size -= n;
	}
}

/* Returns a connected socket, or -1. */
static int dial(const char *path)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	struct timeval limit = {.tv_sec = LIMIT};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || strlen(path) >= sizeof to.sun_path)
		err(1, "cannot make a socket to %s", path);
	strcpy(to.sun_path, path);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	return connect(fd, (struct sockaddr *)&to, sizeof to) ? -1 : fd;
}

/* Sends a request and takes the answer; false if there is no answer, because the hook is being killed. */
static int exchange(int fd, struct text request, struct answer *a)
{
	write_all(fd, request);
	shutdown(fd, SHUT_WR);
	struct text rest = read_all(fd);
	close(fd);
	if (!take_field(&rest, &a->code) || !take_field(&rest, &a->out) || !take_field(&rest, &a->errors) || !take_field(&rest, &a->wants))
		return 0;
	a->code.bytes[a->code.size] = a->out.bytes[a->out.size] = a->wants.bytes[a->wants.size] = 0; /* what follows has been read */
	return 1;
}

static struct text request(const char *context, const char *dir, const char *name, const char *flag, struct text input, char **argv)
{
	struct text all = {0};

	append_field(&all, context, strlen(context));
	append_field(&all, dir, strlen(dir));
	append_field(&all, name, strlen(name));
	append_field(&all, flag, strlen(flag));
	append_field(&all, input.bytes, input.size);
	while (*++argv)
		append_field(&all, *argv, strlen(*argv));
	return all;
}

static void become(const char *program, char **argv)
{
	signal(SIGPIPE, SIG_DFL);
	execv(program, argv);
	err(1, "cannot run %s", program);
}

/* Becomes the Go program, which finds its machine by argv[0]. */
static void become_go(char **argv)
{
	char program[PATH_MAX];
	ssize_t size = readlink("/proc/self/exe", program, sizeof program) - (ssize_t)strlen(SUFFIX);

	if (size <= 0 || memcmp(program + size, SUFFIX, strlen(SUFFIX)))
		errx(1, "cannot tell the program beside this one");
	program[size] = 0;
	become(program, argv);
}

int main(int argc, char **argv)
{
	const char *name = strrchr(*argv, '/') ? strrchr(*argv, '/') + 1 : *argv;
	const char *context = getenv("JUJU_CONTEXT_ID"), *socket = getenv("JUJU_AGENT_SOCKET_ADDRESS"), *flag = "";
	char *dir = getcwd(NULL, 0);
	struct text input = {0};
	struct answer a;

	(void)argc;
	signal(SIGPIPE, SIG_IGN);
	if (!dir)
		err(1, "cannot tell the working directory");
	if (!context || !*context || !socket || !*socket)
		become_go(argv);
	for (;;) {
		int fd = dial(socket);

		if (fd < 0)
			become_go(argv); /* the hook has ended, and this is what it left behind */
		if (!exchange(fd, request(context, dir, name, flag, input, argv), &a))
			errx(1, "EOF");
		if (!strcmp(a.wants.bytes, "exec"))
			become(a.out.bytes, argv);
		if (strcmp(a.wants.bytes, "stdin") || *flag) {
			write_all(STDOUT_FILENO, a.out);
			write_all(STDERR_FILENO, a.errors);
			return atoi(a.code.bytes);
		}
		flag = "stdin";
		input = read_all(STDIN_FILENO);
	}
}
