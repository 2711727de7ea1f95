"""Settings: frozen values per concern, read from `PLACET_` variables, every problem found at once."""

from placet.settings.catalogue import describe
from placet.settings.loading import SettingsError, load
from placet.settings.model import (
    Durability,
    Environment,
    KeySettings,
    LogFormat,
    LogLevel,
    LogSettings,
    MetricsSettings,
    RuleSettings,
    ServerSettings,
    Settings,
    StoreSettings,
    WebhookSettings,
)
from placet.settings.secret import Secret
from placet.settings.variable import SettingDoc

__all__ = [
    "Durability",
    "Environment",
    "KeySettings",
    "LogFormat",
    "LogLevel",
    "LogSettings",
    "MetricsSettings",
    "RuleSettings",
    "Secret",
    "ServerSettings",
    "SettingDoc",
    "Settings",
    "SettingsError",
    "StoreSettings",
    "WebhookSettings",
    "describe",
    "load",
]
