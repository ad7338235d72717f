from tests.e2e.conftest import folder  # noqa: F401: a fixture
