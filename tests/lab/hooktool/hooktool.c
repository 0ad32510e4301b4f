/*
 * Plays the hook tool by whose name it is called, as package hookclient does: sends its
 * arguments over the socket that the hook's environment names, and prints the answer.
 *
 * It plays those programs of a machine too that hooks call most, such as systemctl: the lab
 * runs the stand-in itself, and this prints what it said. Where there is no hook, it becomes
 * the program in Go beside it, which plays all that a machine has.
 *
 * It is in C for one reason. A hook calls dozens of tools, each a process of its own, and
 * the tests run tens of thousands of hooks: a program in Go spends three times as long on
 * its start as this one takes in all.
 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* The name of this program is that of the one in Go and this (hookclient.InC). */
#define SUFFIX "-hook-tool"

/* The stand-ins that the lab runs for hooks: machine.inLab. */
static const char *const stand_ins[] = {"dpkg-query", "systemctl", "ufw", NULL};

/* How long an answer is waited for, in seconds. */
enum {
	TOOL_LIMIT = 60,
	STAND_IN_LIMIT = 600, /* systemctl waits for services */
};

struct text {
	char *bytes;
	size_t size;
};

struct answer {
	struct text code, out, errors, wants;
};

static void fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("ERROR ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(1);
}

static void append(struct text *t, const char *bytes, size_t size)
{
	t->bytes = realloc(t->bytes, t->size + size + 1);
	if (!t->bytes)
		fail("out of memory");
	if (size)
		memcpy(t->bytes + t->size, bytes, size);
	t->size += size;
	t->bytes[t->size] = 0;
}

/* A field stands behind its length. */
static void append_field(struct text *t, const char *bytes, size_t size)
{
	char length[32];

	append(t, length, snprintf(length, sizeof length, "%zu:", size));
	append(t, bytes, size);
}

/* Takes the first field off the rest; false where it is not whole. */
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

static int number(struct text digits)
{
	int n = 0;

	for (; digits.size; digits.size--)
		n = 10 * n + *digits.bytes++ - '0';
	return n;
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
			break; /* as if it had ended: the hook is being killed */
		else if (errno != EINTR)
			fail("cannot read: %s", strerror(errno));
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
			return; /* what reads it has ended */
		t.bytes += n;
		t.size -= n;
	}
}

/* A socket that is connected, or -1. */
static int dial(const char *path, time_t seconds)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	struct timeval limit = {.tv_sec = seconds};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || strlen(path) >= sizeof to.sun_path)
		fail("cannot make a socket to %s", path);
	strcpy(to.sun_path, path);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	return connect(fd, (struct sockaddr *)&to, sizeof to) ? -1 : fd;
}

/* Sends a request and takes the answer; false where there is none: the hook is being killed. */
static int exchange(int fd, struct text request, struct answer *a)
{
	while (request.size) {
		ssize_t n = send(fd, request.bytes, request.size, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		request.bytes += n;
		request.size -= n;
	}
	shutdown(fd, SHUT_WR);
	struct text rest = read_all(fd);
	close(fd);
	return take_field(&rest, &a->code) && take_field(&rest, &a->out) && take_field(&rest, &a->errors) && take_field(&rest, &a->wants);
}

static int print(struct answer a)
{
	write_all(STDOUT_FILENO, a.out);
	write_all(STDERR_FILENO, a.errors);
	return number(a.code);
}

static const char *need(const char *variable)
{
	const char *value = getenv(variable);

	if (!value || !*value)
		fail("%s not set", variable);
	return value;
}

static struct text request(const char *context, const char *dir, const char *name, const char *flag, struct text input)
{
	struct text all = {0};

	append_field(&all, context, strlen(context));
	append_field(&all, dir, strlen(dir));
	append_field(&all, name, strlen(name));
	append_field(&all, flag, strlen(flag));
	append_field(&all, input.bytes, input.size);
	return all;
}

static void append_args(struct text *request, char **argv)
{
	while (*++argv)
		append_field(request, *argv, strlen(*argv));
}

/* Becomes the program in Go, which finds its machine by the name that it is called by. */
static int become_go(char **argv)
{
	char program[PATH_MAX];
	ssize_t size = readlink("/proc/self/exe", program, sizeof program) - (ssize_t)strlen(SUFFIX);

	if (size <= 0 || memcmp(program + size, SUFFIX, strlen(SUFFIX)))
		fail("cannot tell the program beside this one");
	program[size] = 0;
	execv(program, argv);
	fail("cannot run %s: %s", program, strerror(errno));
	return 1;
}

static int stand_in(const char *name, char **argv)
{
	const char *context = getenv("JUJU_CONTEXT_ID"), *socket = getenv("JUJU_AGENT_SOCKET_ADDRESS");
	struct text all, none = {0};
	struct answer a;
	int fd;

	if (!context || !*context || !socket || !*socket)
		return become_go(argv);
	fd = dial(socket, STAND_IN_LIMIT);
	if (fd < 0)
		return become_go(argv); /* the hook has ended, and this is what it left behind */
	all = request(context, "", "!stand-in", "", none);
	append_field(&all, name, strlen(name));
	append_args(&all, argv);
	return exchange(fd, all, &a) ? print(a) : 1;
}

static int hook_tool(const char *name, char **argv)
{
	const char *context = need("JUJU_CONTEXT_ID"), *socket = need("JUJU_AGENT_SOCKET_ADDRESS");
	char *dir = getcwd(NULL, 0);
	struct text all, input = {0};
	struct answer a;
	const char *flag = "";

	if (!dir)
		fail("cannot tell the working directory: %s", strerror(errno));
	for (;;) {
		int fd = dial(socket, TOOL_LIMIT);

		if (fd < 0)
			fail("cannot connect to %s: %s", socket, strerror(errno));
		all = request(context, dir, name, flag, input);
		append_args(&all, argv);
		if (!exchange(fd, all, &a))
			fail("EOF");
		if (!a.wants.size || *flag)
			return print(a);
		flag = "stdin";
		input = read_all(STDIN_FILENO);
	}
}

int main(int argc, char **argv)
{
	const char *name = strrchr(*argv, '/') ? strrchr(*argv, '/') + 1 : *argv;

	(void)argc;
	for (const char *const *other = stand_ins; *other; other++)
		if (!strcmp(name, *other))
			return stand_in(name, argv);
	return hook_tool(name, argv);
}
